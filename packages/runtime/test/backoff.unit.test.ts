import { expect, test } from '@jest/globals';
import { backoffMs, pause, within } from '../src/concurrency/backoff.ts';

const backoff = { firstMs: 100, maxMs: 5_000 };

test('the pause doubles with each failure up to its limit, and is between half and the whole of it', () => {
  const longest = [0, 1, 2, 5, 6, 1000].map((attempt) => backoffMs(attempt, backoff, () => 1));
  expect(longest).toEqual([100, 200, 400, 3200, 5000, 5000]);
  expect(backoffMs(1, backoff, () => 0)).toBe(100);
});

test('a pause ends when its signal aborts, and does not throw', async () => {
  const stopping = new AbortController();
  const paused = pause(3_600_000, stopping.signal);
  stopping.abort();
  await paused;
  await pause(3_600_000, stopping.signal);
});

test('within gives the value, passes the error on, and throws when it takes too long', async () => {
  expect(await within(1_000, 'This', Promise.resolve(7))).toBe(7);
  await expect(within(1_000, 'This', Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await expect(within(1, 'This', new Promise(() => undefined))).rejects.toThrow('This took longer than 1 ms');
});
