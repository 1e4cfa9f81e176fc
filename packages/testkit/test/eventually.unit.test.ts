import { expect, test } from '@jest/globals';
import { eventually } from '../src/eventually.ts';

test('returns the result of a check that no longer throws', async () => {
  let tries = 0;
  const check = () => {
    tries += 1;
    if (tries < 3) throw new Error('not yet');
    return tries;
  };
  expect(await eventually(check, { intervalMs: 1 })).toBe(3);
});

test('throws the last error after the timeout', async () => {
  let tries = 0;
  const check = () => {
    tries += 1;
    throw new Error(`try ${tries}`);
  };
  await expect(eventually(check, { timeoutMs: 300, intervalMs: 1 })).rejects.toThrow(/^try \d+$/);
  expect(tries).toBeGreaterThan(1);
});
