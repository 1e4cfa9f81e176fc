import { describe, expect, test } from '@jest/globals';
import { chanceOf } from './random-run/chance.ts';
import { MAX_REORG, makePlan } from './random-run/plan.ts';
import { hidingFaults, honestFaults } from './random-run/plan-faults.ts';

const TEN_MINUTES = 600_000;
const plan = (seed: number, hides = false) => makePlan(seed, TEN_MINUTES, { hides });

describe('the plan of a random run', () => {
  test('is the same for the same seed, and another for another', () => {
    expect(plan(7)).toEqual(plan(7));
    expect(plan(7).chain).not.toEqual(plan(8).chain);
    expect(plan(7).weather).not.toEqual(plan(8).weather);
  });

  test('uses every kind of step', () => {
    const { chain, replicas, weather, messages } = plan(7);
    const depths = chain.flatMap((step) => (step.kind === 'reorg' ? [step.depth] : []));
    expect(new Set(depths)).toEqual(new Set(Array.from({ length: MAX_REORG }, (_, depth) => depth + 1)));
    expect(new Set(replicas.map(({ kind }) => kind))).toEqual(new Set(['kill', 'pause', 'terminate']));
    expect(replicas.filter((step) => step.kind === 'pause' && step.forMs === 60_000)).toHaveLength(2);
    expect(new Set(messages.map(({ kind }) => kind))).toEqual(new Set(['created', 'again', 'closed']));
    expect(new Set(weather.map(({ fault }) => fault))).toEqual(new Set(honestFaults));
  });

  test('lets only one endpoint hide what other answers of it cannot reveal', () => {
    const hidden = plan(7, true).weather.filter(({ fault }) => hidingFaults.some((kind) => kind === fault));
    expect(new Set(hidden.map(({ fault }) => fault))).toEqual(new Set(hidingFaults));
    expect(new Set(hidden.map(({ endpoint }) => endpoint)).size).toBe(1);
  });

  test('keeps parallel activities independent: more choices of one do not change another', () => {
    const one = chanceOf(7);
    const before = one.apart('messages').below(1_000_000);
    one.apart('chain').below(10);
    expect(one.apart('messages').below(1_000_000)).toBe(before);
  });
});
