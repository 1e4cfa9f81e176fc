import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { startLoad } from './chaos-load.ts';

test('jobs whose addition failed are refused, and their ids are never used again', async () => {
  const asked: string[] = [];
  let isAway = true;
  const load = startLoad(async (ids) => {
    asked.push(...ids);
    if (isAway) throw new Error('the store is away');
  }, 1_000);
  await eventually(() => expect(load.refused()).toBeGreaterThan(0));
  expect(load.accepted.size).toBe(0);
  isAway = false;
  await eventually(() => expect(load.accepted.size).toBeGreaterThan(0));
  await load.stop();
  expect(new Set(asked).size).toBe(asked.length);
  expect(load.accepted.size + load.refused()).toBe(asked.length);
});

test('a flood adds as many jobs as it says, and fails if the store refuses one', async () => {
  const sizes: number[] = [];
  const load = startLoad(async (ids) => void sizes.push(ids.length), 0.001);
  await load.flood(1_200);
  expect(load.accepted.size).toBe(1_200);
  expect(sizes).toEqual([500, 500, 200]);
  await load.stop();

  const refusing = startLoad(() => Promise.reject(new Error('full')), 0.001);
  await expect(refusing.flood(10)).rejects.toThrow('the flood was refused');
  await refusing.stop();
});
