import { describe, expect, test } from '@jest/globals';
import { quickPaceMs, unprovenRestMs } from '../src/lanes/deliver.ts';

describe('attempts of new and slow lanes begin', () => {
  test.each([
    { what: 'as far apart as they are to', claimed: 1, tookMs: 1, restMs: 40 },
    { what: 'as far apart for each, when two were claimed', claimed: 2, tookMs: 1, restMs: 80 },
    { what: 'further apart where a claim takes long', claimed: 1, tookMs: 10, restMs: 150 },
    { what: 'ten times as far apart at most', claimed: 1, tookMs: 5_000, restMs: 400 },
  ])('$what', ({ claimed, tookMs, restMs }) => {
    expect(unprovenRestMs(40, { claimed, more: true, tookMs })).toBeCloseTo(restMs);
  });

  test('soon after a lane that had nothing to send, if others may have', () => {
    expect(unprovenRestMs(40, { claimed: 0, more: true, tookMs: 10 })).toBe(5);
    expect(unprovenRestMs(40, { claimed: 0, more: false, tookMs: 1 })).toBe(40);
  });
});

test('claims of quick lanes are further apart while many lanes have events due', () => {
  expect(quickPaceMs(0)).toBe(5);
  expect(quickPaceMs(31)).toBe(5);
  expect(quickPaceMs(32)).toBe(20);
  expect(quickPaceMs(256)).toBe(20);
});
