import { describe, expect, test } from '@jest/globals';
import { cpuUsPerUnit, interleave, ratioOf, spreadOf, type Measurement } from './rounds.ts';

const measurement = (rate: number, cpuUs: number | null = 0, units = 1): Measurement => ({
  rate,
  units,
  p50Ms: 1,
  p99Ms: 1,
  cpuUs: { server: cpuUs },
});

describe('rounds of a benchmark', () => {
  test('every contender runs once in each round, and each round begins with another contender', async () => {
    const order: string[] = [];
    const contender = (name: string) => ({
      name,
      measure: async () => {
        order.push(name);
        return measurement(order.length);
      },
    });
    const rounds = await interleave([contender('a'), contender('b'), contender('c')], 3);
    expect(order.join('')).toBe('abcbcacab');
    expect(rounds.map((round) => round['a']?.rate)).toEqual([1, 6, 8]);
  });

  test('a ratio compares runs of one round, so a slow round affects both sides', () => {
    const rounds = [
      { ours: measurement(60), bare: measurement(100) },
      { ours: measurement(6), bare: measurement(10) },
      { ours: measurement(50), bare: measurement(100) },
    ];
    expect(ratioOf(rounds, ({ rate }) => rate, 'ours', 'bare')).toEqual({ median: 0.6, min: 0.5, max: 0.6 });
  });

  test('the median of an even number of values is between the middle two', () => {
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 });
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  });

  test('CPU time is divided by the work of all rounds, and is unknown if one round does not have it', () => {
    const rounds = [{ ours: measurement(1, 300, 2) }, { ours: measurement(1, 100, 2) }];
    expect(cpuUsPerUnit(rounds, 'ours', 'server')).toBe(100);
    expect(cpuUsPerUnit([...rounds, { ours: measurement(1, null) }], 'ours', 'server')).toBeNull();
  });
});
