import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createWatchSet } from '../src/chain/watch-set.ts';
import { addressOf } from '@quittance/testkit/chain/samples.ts';

test('a watch set behaves like a set of addresses after any sequence of additions and removals', () => {
  // Few different addresses, so that collisions, repetitions and reuse of deleted slots all happen.
  const step = fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 40 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const set = createWatchSet();
      const model = new Set<string>();
      for (const [isAddition, number] of steps) {
        const address = addressOf(number * 0x1_0000_0001);
        if (isAddition) model.add(address);
        else model.delete(address);
        if (isAddition) set.add(address);
        else set.delete(address);
      }
      const all = Array.from({ length: 41 }, (_, number) => addressOf(number * 0x1_0000_0001));
      expect([...set.addresses()].sort()).toEqual([...model].sort());
      return set.size() === model.size && all.every((address) => set.has(address) === model.has(address));
    }),
  );
});

test('grows without losing or confusing wallets', () => {
  const set = createWatchSet();
  for (let number = 0; number < 50_000; number += 1) set.add(addressOf(number));
  expect(set.size()).toBe(50_000);
  for (let number = 0; number < 50_000; number += 997) expect(set.has(addressOf(number))).toBe(true);
  for (let number = 50_000; number < 100_000; number += 997) expect(set.has(addressOf(number))).toBe(false);
});

test('adding and removing forever needs no more space than the remaining wallets', () => {
  const set = createWatchSet();
  for (let number = 0; number < 20_000; number += 1) {
    set.add(addressOf(number));
    set.delete(addressOf(number));
  }
  expect(set.size()).toBe(0);
  expect(set.has(addressOf(7))).toBe(false);
});

test('addresses that differ only in the last digit are different', () => {
  const set = createWatchSet();
  set.add(`0x${'f'.repeat(40)}`);
  expect(set.has(`0x${'f'.repeat(39)}e`)).toBe(false);
  expect(set.has(`0x${'f'.repeat(40)}`)).toBe(true);
});
