import { expect, test } from '@jest/globals';
import { createTurns } from '../src/watches/back-fill.ts';

function turnsAt() {
  let now = 0;
  const turns = createTurns(() => now);
  const wait = (ms: number) => (now += ms);
  return { turns, wait, next: () => turns.next()?.newestFirst ?? null };
}

test('the oldest and the newest back-fill take turns', () => {
  const { turns, next } = turnsAt();
  const order = Array.from({ length: 4 }, () => {
    const isNewest = next();
    turns.done();
    return isNewest;
  });
  expect(order).toEqual([false, true, false, true]);
});

test('one whose blocks no endpoint keeps pauses longer each time, and the others continue', () => {
  const { turns, wait, next } = turnsAt();
  expect(next()).toBe(false);
  turns.missing();
  for (let round = 0; round < 3; round += 1) {
    expect(next()).toBe(true);
    turns.done();
  }
  wait(1_000);
  expect(next()).toBe(false);
  for (let failures = 0; failures < 20; failures += 1) turns.missing();
  wait(149_000);
  expect(next()).toBe(true);
  turns.done();
  wait(151_000);
  expect(next()).toBe(false);
});

test('a new one does not wait for the pause of another', () => {
  const { turns, next } = turnsAt();
  for (let side = 0; side < 2; side += 1) {
    next();
    turns.missing();
  }
  expect(next()).toBeNull();
  turns.added();
  expect(next()).toBe(true);
});
