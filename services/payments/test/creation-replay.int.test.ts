import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Creation } from '../src/payment/creation-rule.ts';
import { type CreationDatabase, creationDatabase, decide, newGate } from './creation-rows.ts';

let database: CreationDatabase;
beforeAll(async () => {
  database = await creationDatabase(1);
});
afterAll(() => database.close());

/** A shop whose requests differ only in their `expires_in` and in the setting at the time. */
async function shop() {
  const merchant = await newGate(database.db);
  const creation: Creation = {
    ...{ merchant_id: merchant, idempotency_key: 'order 7', amount: '10.50', amount_units: 10_500_000n },
    ...{ merchant_wallet: `wallet of ${merchant}`, network: 'local', description: 'tea' },
  };
  /** @param setting PAYMENT_TTL_SECONDS. */
  return async (seconds: number | undefined, setting: number) => {
    const asked = { ...creation, ...(seconds !== undefined && { expires_in: seconds }) };
    const [result] = await decide(database.db, [asked], true, { ttlSeconds: setting, walletBinding: true });
    return result?.outcome;
  };
}

/** Requests with and without `expires_in`, at one setting and at another. */
type Case = [first: [number | undefined, number], second: [number | undefined, number], outcome: string];

describe('a repeated request', () => {
  test.each<Case>([
    [[1800, 1800], [1800, 1800], 'replayed'],
    [[1800, 1800], [1800, 900], 'replayed'],
    [[900, 1800], [900, 900], 'replayed'],
    [[900, 900], [900, 1800], 'replayed'],
    [[600, 1800], [600, 900], 'replayed'],
    [[undefined, 1800], [undefined, 900], 'replayed'],
  ])('with expires_in and PAYMENT_TTL_SECONDS %j, then %j, is %s', async (first, second, outcome) => {
    const ask = await shop();
    expect(await ask(...first)).toBe('created');
    expect(await ask(...second)).toBe(outcome);
  });
});

describe('an expires_in that is absent', () => {
  test.each<Case>([
    [[undefined, 1800], [1800, 1800], 'replayed'],
    [[1800, 1800], [undefined, 1800], 'replayed'],
    [[undefined, 1800], [1800, 900], 'replayed'],
    [[undefined, 1800], [900, 1800], 'key_conflict'],
    [[900, 1800], [undefined, 1800], 'key_conflict'],
    [[undefined, 1800], [900, 900], 'key_conflict'],
  ])('is the setting at the time: %j, then %j, is %s', async (first, second, outcome) => {
    const ask = await shop();
    expect(await ask(...first)).toBe('created');
    expect(await ask(...second)).toBe(outcome);
  });
});

test('a reply that was saved before there were two fingerprints is found unchanged', async () => {
  for (const [seconds, again, outcome] of [
    [undefined, 1800, 'replayed'],
    [undefined, undefined, 'replayed'],
    [900, 900, 'replayed'],
    [900, undefined, 'key_conflict'],
  ] as const) {
    const ask = await shop();
    expect(await ask(seconds, 1800)).toBe('created');
    await database.db.query('update idempotent_reply set equal_fingerprint = null');
    expect(await ask(again, 1800)).toBe(outcome);
  }
});
