import { describe, expect, test } from '@jest/globals';
import { trendOf } from './trend.ts';

describe('a trend', () => {
  test('of points on a line is the slope of the line, without noise', () => {
    const { slope, noise } = trendOf([0, 1, 2, 3].map((x) => [x, 7 - 2 * x]));
    expect(slope).toBeCloseTo(-2);
    expect(noise).toBeCloseTo(0);
  });

  test('of values that only fluctuate is within its noise', () => {
    const { slope, noise } = trendOf([10, 12, 9, 11, 10, 12, 9, 11].map((y, x) => [x, y]));
    expect(Math.abs(slope)).toBeLessThan(noise);
  });

  test('of values that rise through such noise is outside it', () => {
    const { slope, noise } = trendOf([10, 12, 9, 11, 10, 12, 9, 11].map((y, x) => [x, y + 3 * x]));
    expect(slope).toBeGreaterThan(noise);
  });

  test('of two points is not a number', () => {
    const level: [number, number][] = [
      [0, 1],
      [1, 1],
    ];
    expect(trendOf(level)).toEqual({ slope: Number.NaN, noise: Number.NaN });
  });
});
