import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { retryDelaySeconds } from '../src/events/outcome.ts';
import { parseRetryAfter } from '../src/sending/sender.ts';

const delaysSeconds = [5, 60, 300, 1_800, 7_200, 28_800, 72_000, 144_000];
const plain = { delaysSeconds, retryAfterSeconds: null, random: 0.5 };

describe('the retry schedule', () => {
  test('eight failures are retried after growing delays, the ninth is the last', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((failures) => retryDelaySeconds({ ...plain, failures }));
    expect(delays).toEqual([...delaysSeconds, null]);
  });

  test('the random variation is at most a fifth of the delay', () => {
    expect(retryDelaySeconds({ ...plain, failures: 2, random: 0 })).toBeCloseTo(48);
    expect(retryDelaySeconds({ ...plain, failures: 2, random: 1 })).toBeCloseTo(72);
  });

  test('Retry-After counts between this delay and the next', () => {
    const after = (retryAfterSeconds: number) => retryDelaySeconds({ ...plain, failures: 2, retryAfterSeconds });
    expect([0, 59, 60, 120, 300, 301, 1e9].map(after)).toEqual([60, 60, 60, 120, 300, 300, 300]);
  });

  test('the last retry has no next delay, so Retry-After adds nothing', () => {
    expect(retryDelaySeconds({ ...plain, failures: 8, retryAfterSeconds: 1e9 })).toBe(144_000);
  });

  test('no header makes a delay shorter than the random one, or longer than the next one plus a fifth', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.option(fc.integer({ min: 0, max: 999_999_999 })),
        (failures, random, retryAfterSeconds) => {
          const delay = retryDelaySeconds({ delaysSeconds, failures, random, retryAfterSeconds }) ?? Number.NaN;
          const nominal = delaysSeconds[failures - 1]!;
          expect(delay).toBeGreaterThanOrEqual(nominal * 0.8 - 1e-9);
          expect(delay).toBeLessThanOrEqual(Math.max(delaysSeconds[failures] ?? 0, nominal * 1.2 + 1e-9));
        },
      ),
    );
  });
});

describe('Retry-After', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  test.each<[string | null, number | null]>([
    ['0', 0],
    ['120', 120],
    [' 7 ', 7],
    ['Thu, 01 Jan 2026 00:01:30 GMT', 90],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    [null, null],
    ['', null],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['9999999999', null],
    ['2026-01-01T00:01:00Z', null],
    ['Thu, nonsense', null],
  ])('%j means %p', (header, seconds) => {
    expect(parseRetryAfter(header, now)).toBe(seconds);
  });
});
