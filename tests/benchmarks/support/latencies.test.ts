import { describe, expect, test } from '@jest/globals';
import { latenciesOf } from './latencies.ts';

describe('latencies', () => {
  test('a percentile is one of the durations, which as large a share does not exceed', () => {
    const ms = Array.from({ length: 200 }, (_, position) => 200 - position);
    expect(latenciesOf(ms)).toEqual({ count: 200, p50: 100, p99: 198, max: 200 });
  });

  test('of few durations the longest is the p99, so that it is not lost', () => {
    expect(latenciesOf([5, 1, 900])).toEqual({ count: 3, p50: 5, p99: 900, max: 900 });
  });

  test('of none there is nothing to say', () => {
    expect(latenciesOf([])).toEqual({ count: 0, p50: Number.NaN, p99: Number.NaN, max: Number.NaN });
  });
});
