import { addressOf } from '@quittance/testkit/chain/samples.ts';
import { expect, test } from '@jest/globals';
import { scannedThrough } from '../src/transfers/http.ts';

const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1000);
const final = { number: 100, timestamp: 1_700_000_600 };
const largeFinal = { number: 90, timestamp: 1_700_000_500 };
const cursor = { final, largeFinal, state: 'scanning' as const };
const policy = { finalizedAbove: null };
const capped = { finalizedAbove: 1_000n };
const window = { recipient: addressOf(1), amountUnits: 5n, from: at(0).toISOString(), to: at(300).toISOString() };
const watch = { address: addressOf(1), state: 'watching' as const, watchedFrom: at(0), endedThrough: null };

test('a wallet watched since before the window is covered as far as the chain is final', () => {
  expect(scannedThrough(policy, cursor, [window], [watch])).toBe(at(600).toISOString());
});

test.each([
  ['nothing is final yet', { ...cursor, final: null }, [watch]],
  ['the network is halted', { ...cursor, state: 'halted' as const }, [watch]],
  ['the wallet is not watched', cursor, []],
  ['the wallet is new', cursor, [{ ...watch, state: 'new' as const }]],
  ['the wallet is being back-filled', cursor, [{ ...watch, state: 'backfilling' as const }]],
  ['the window begins before the watch', cursor, [{ ...watch, watchedFrom: at(16) }]],
])('nothing is claimed while %s', (_, position, watches) => {
  expect(scannedThrough(policy, position, [window], watches)).toBeNull();
});

test('a window of an earlier release, which begins 15 s before its payment, is covered by the watch', () => {
  expect(scannedThrough(policy, cursor, [window], [{ ...watch, watchedFrom: at(15) }])).not.toBeNull();
});

test('a watch that has ended still covers the time it lasted', () => {
  expect(scannedThrough(policy, cursor, [window], [{ ...watch, state: 'ended', endedThrough: at(400) }])).toBe(
    at(400).toISOString(),
  );
});

test('one uncovered wallet among several means that nothing is claimed', () => {
  const other = { ...window, recipient: addressOf(2) };
  expect(scannedThrough(policy, cursor, [window, other], [watch])).toBeNull();
});

test('an amount above the cap is covered as far as the chain itself calls its blocks final', () => {
  const known = (...amounts: (bigint | null)[]) =>
    scannedThrough(
      capped,
      cursor,
      amounts.map((amountUnits) => ({ ...window, amountUnits })),
      [watch],
    );
  expect(known(1_000n)).toBe(at(600).toISOString());
  expect(known(1_001n)).toBe(at(500).toISOString());
  expect(known(null)).toBe(at(500).toISOString());
  expect(known(1_000n, 1_001n)).toBe(at(500).toISOString());
  expect(known()).toBe(at(600).toISOString());
});
