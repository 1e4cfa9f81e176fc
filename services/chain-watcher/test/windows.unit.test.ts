import { expect, test } from '@jest/globals';
import { scannedThrough } from '../src/routes/windows.ts';
import { addressOf } from './samples.ts';

const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1000);
const final = { number: 100, timestamp: 1_700_000_600 };
const cursor = { final, haltedAt: null };
const window = { recipient: addressOf(1), from: at(0).toISOString(), to: at(300).toISOString() };
const watch = { address: addressOf(1), isComplete: true, watchedFrom: at(0), completeThrough: null };

test('a wallet watched since before the window is known as far as the chain was scanned final', () => {
  expect(scannedThrough(cursor, [window], [watch])).toBe(at(600).toISOString());
});

test.each([
  ['nothing is final yet', { final: null, haltedAt: null }, [watch]],
  ['the network is halted', { final, haltedAt: at(0) }, [watch]],
  ['the wallet is not watched', cursor, []],
  ['the wallet is new or being back-filled', cursor, [{ ...watch, isComplete: false }]],
  ['the window begins before the watch', cursor, [{ ...watch, watchedFrom: at(16) }]],
])('nothing is claimed while %s', (_, position, coverage) => {
  expect(scannedThrough(position, [window], coverage)).toBeNull();
});

test('the margin before a payment is covered by its watch', () => {
  expect(scannedThrough(cursor, [window], [{ ...watch, watchedFrom: at(15) }])).not.toBeNull();
});

test('a watch that has ended still answers for the time it lasted', () => {
  expect(scannedThrough(cursor, [window], [{ ...watch, completeThrough: at(400) }])).toBe(at(400).toISOString());
});

test('one uncovered wallet among several leaves nothing to claim', () => {
  const other = { ...window, recipient: addressOf(2) };
  expect(scannedThrough(cursor, [window, other], [watch])).toBeNull();
});
