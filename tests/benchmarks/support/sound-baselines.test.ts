import { describe, expect, test } from '@jest/globals';
import { renderResult } from './report.ts';
import type { Contender, Measurement } from './rounds.ts';
import { compare, comparedTo, flawOf } from './sound-baselines.ts';

const measurement = (rate: number, more: Partial<Measurement> = {}): Measurement => ({
  ...{ rate, units: 100, p50Ms: 1, p99Ms: 1, cpuUs: {} },
  ...more,
});
const rateOf = ({ rate }: Measurement): number => rate;

describe('a baseline is sound', () => {
  test('when it has at least half and at most twice the rate of most of its rounds, measured again', () => {
    const inRounds = [measurement(100), measurement(100), measurement(900)];
    expect(flawOf(inRounds, measurement(50))).toBeNull();
    expect(flawOf(inRounds, measurement(200))).toBeNull();
    expect(flawOf(inRounds, measurement(49))).toBe(
      'measured again, it had 0.49 and 0.49 and 0.054 times the rate of its rounds',
    );
    expect(flawOf(inRounds, measurement(610))).toBe(
      'measured again, it had 6.1 and 6.1 and 0.68 times the rate of its rounds',
    );
    // A median of 267 is close, but half of the rounds were not.
    expect(flawOf([measurement(36), measurement(498)], measurement(300))).toBe(
      'measured again, it had 8.3 and 0.6 times the rate of its rounds',
    );
  });

  test('when its statements find their rows by an index, in each round and afterwards', () => {
    const few = measurement(100, { rowsRead: 5_000 });
    const many = measurement(100, { rowsRead: 440_000 });
    expect(flawOf([few, few], few)).toBeNull();
    expect(flawOf([few, many], few)).toBe('reads 4,400 rows for one unit of work');
    expect(flawOf([few, few], many)).toBe('reads 4,400 rows for one unit of work');
  });

  test('never when it did nothing', () => {
    expect(flawOf([measurement(0)], measurement(0))).not.toBeNull();
    expect(flawOf([], measurement(100))).not.toBeNull();
    expect(flawOf([measurement(100, { rowsRead: 0, units: 0 })], measurement(100))).not.toBeNull();
  });
});

describe('a comparison', () => {
  const contender = (name: string, rates: number[]): Contender & { left: number[] } => {
    const left = [...rates];
    return { name, left, measure: async () => measurement(left.shift() ?? Number.NaN) };
  };
  const context = (scale: 'full' | 'smoke' = 'full') => {
    const said: string[] = [];
    return { said, rounds: 2, scale, say: (line: string) => void said.push(line) };
  };

  test('with a sound baseline measures it once more', async () => {
    const [ours, bare] = [contender('ours', [50, 50]), contender('bare', [100, 100, 120, 7])];
    const { said, ...how } = context();
    const rounds = await compare(how, [ours, bare], ['bare']);
    expect(comparedTo(rounds, rateOf, 'ours', 'bare')).toEqual({ measured: { median: 0.5, min: 0.5, max: 0.5 } });
    expect([bare.left, said]).toEqual([[7], []]);
  });

  test('with a baseline that is not sound is repeated once, and counts when it is sound then', async () => {
    const [ours, bare] = [contender('ours', [50, 50, 60, 60]), contender('bare', [10, 10, 100, 100, 100, 100])];
    const { said, ...how } = context();
    const rounds = await compare(how, [ours, bare], ['bare']);
    expect(comparedTo(rounds, rateOf, 'ours', 'bare')).toEqual({ measured: { median: 0.6, min: 0.6, max: 0.6 } });
    expect(said).toEqual([
      '  bare: measured again, it had 10 and 10 times the rate of its rounds; all rounds once more …',
    ]);
  });

  test('names the broken baseline when the repetition is no better', async () => {
    const [ours, bare] = [contender('ours', [50, 50, 60, 60]), contender('bare', [10, 10, 100, 10, 10, 60])];
    const rounds = await compare(context(), [ours, bare], ['bare']);
    const outcome = comparedTo(rounds, rateOf, 'ours', 'bare');
    const brokenBaseline = 'bare measured again, it had 6 and 6 times the rate of its rounds';
    expect(outcome).toEqual({ measured: { median: 6, min: 6, max: 6 }, brokenBaseline });
    const aims = [{ what: 'rate', atLeast: 0.5, ...outcome }];
    const report = renderResult({ tables: [], notes: [], aims, measurements: null });
    expect(report).toContain(`baseline broken (${brokenBaseline})`);
    expect(report).not.toContain('met ');
  });

  test('to another contender is not affected', async () => {
    const contenders = [
      contender('ours', [50, 50, 60, 60]),
      contender('other', [100, 100, 100, 100]),
      contender('bare', [10, 10, 100, 10, 10, 60]),
    ];
    const rounds = await compare(context(), contenders, ['bare']);
    expect(comparedTo(rounds, rateOf, 'ours', 'other')).toEqual({ measured: { median: 0.6, min: 0.6, max: 0.6 } });
  });

  test('in a smoke run is not repeated', async () => {
    const [ours, bare] = [contender('ours', [50, 50]), contender('bare', [10, 10, 100])];
    const rounds = await compare(context('smoke'), [ours, bare], ['bare']);
    expect(comparedTo(rounds, rateOf, 'ours', 'bare').brokenBaseline).toBe(
      'bare measured again, it had 10 and 10 times the rate of its rounds',
    );
  });
});
