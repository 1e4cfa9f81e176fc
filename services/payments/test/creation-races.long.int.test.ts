import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AccessPolicy, CreationLimits } from '@quittance/contracts/access.ts';
import { AccessChanged } from '@quittance/contracts/messages.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { type Answer, type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newKey, newMerchant, newWallet, policyOf } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.

const CLIENTS = 50;

let payments: PaymentsUnderTest;
let unbound: PaymentsUnderTest;
beforeAll(async () => {
  [payments, unbound] = await Promise.all([
    startPayments({ replicas: 2 }),
    startPayments({ replicas: 2, settings: { WALLET_BINDING: 'off' } }),
  ]);
});
afterAll(() => Promise.all([payments.close(), unbound.close()]));

/** All at once, each until it is decided: with so many on one gate some get 503, and retry with the same key. */
const all = <T>(items: readonly T[], ask: (item: T) => Promise<Answer<Payment>>): Promise<Answer<Payment>[]> =>
  Promise.all(items.map((item) => insist(() => ask(item), { intervalMs: 25 })));

const keys = (count = CLIENTS): string[] => Array.from({ length: count }, newKey);

const tally = (answers: readonly Answer<Payment>[]): Record<string, number> => {
  const names = answers.map(({ status, json }) => (status === 403 ? `403 ${json.detail.code}` : String(status)));
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, group]) => [name, group.length]));
};

/** The merchant's counts, by its rows and by its counters. */
async function counted(of: PaymentsUnderTest, merchantId: string) {
  const { rows } = await of.db.query<{ payments: number; replies: number; lifetime: number; today: number }>(
    `select (select count(*)::int from payment where merchant_id = $1) as payments,
            (select count(*)::int from idempotent_reply where merchant_id = $1) as replies,
            used_lifetime as lifetime, used_today as today
       from gate where merchant_id = $1`,
    [merchantId],
  );
  return rows[0]!;
}

const all4 = (number: number) => ({ payments: number, replies: number, lifetime: number, today: number });

test('one key from 50 clients at once makes one payment, and all 50 get its bytes', () =>
  withinOneDay(async () => {
    const merchantId = await newMerchant(payments, { total_limit: 1 });
    const order = { key: newKey(), wallet: newWallet() };
    const answers = await all(Array<typeof order>(CLIENTS).fill(order), (one) => create(payments, merchantId, one));
    expect(tally(answers)).toEqual({ 201: CLIENTS });
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await counted(payments, merchantId)).toEqual(all4(1));
  }));

test('one key with two bodies from 50 clients at once belongs to one of the bodies', async () => {
  const merchantId = await newMerchant(payments);
  const [key, wallet] = [newKey(), newWallet()];
  const amounts = Array.from({ length: CLIENTS }, (_, position) => (position % 2 === 0 ? '5' : '6'));
  const answers = await all(amounts, (amount) => create(payments, merchantId, { key, wallet, amount }));
  expect(tally(answers)).toEqual({ 201: CLIENTS / 2, 409: CLIENTS / 2 });
  const winners = answers.filter(({ status }) => status === 201);
  expect(new Set(winners.map(({ text }) => text)).size).toBe(1);
  expect((await counted(payments, merchantId)).payments).toBe(1);
});

describe('one slot', () => {
  test('requested by 50 keys of one merchant goes to one of them, and only that one counts', () =>
    withinOneDay(async () => {
      const merchantId = await newMerchant(payments);
      const wallet = newWallet();
      const answers = await all(keys(), (key) => create(payments, merchantId, { key, wallet }));
      expect(tally(answers)).toEqual({ 201: 1, 409: CLIENTS - 1 });
      expect(await counted(payments, merchantId)).toEqual(all4(1));
    }));

  test('requested by 50 merchants, without wallet binding, goes to one of them, and only that one counts', () =>
    withinOneDay(async () => {
      const merchants = await Promise.all(Array.from({ length: CLIENTS }, () => newMerchant(unbound)));
      const [wallet, key] = [newWallet(), newKey()];
      const answers = await all(merchants, (merchantId) => create(unbound, merchantId, { key, wallet }));
      expect(tally(answers)).toEqual({ 201: 1, 409: CLIENTS - 1 });
      const winner = answers.findIndex(({ status }) => status === 201);
      const counts = await Promise.all(merchants.map((merchantId) => counted(unbound, merchantId)));
      expect(counts).toEqual(merchants.map((_, position) => all4(position === winner ? 1 : 0)));
    }));
});

describe('the last unit', () => {
  test.each<[name: string, limits: Partial<AccessPolicy>, code: string]>([
    ['in total', { total_limit: 1 }, 'total_quota_exhausted'],
    ['of the day', { daily_limit: 1 }, 'daily_quota_exhausted'],
    ['of both', { total_limit: 1, daily_limit: 1 }, 'total_quota_exhausted'],
  ])('%s, wanted by 50, goes to one of them', (_, limits, code) =>
    withinOneDay(async () => {
      const merchantId = await newMerchant(payments, limits);
      const answers = await all(keys(), (key) => create(payments, merchantId, { key }));
      expect(tally(answers)).toEqual({ 201: 1, [`403 ${code}`]: CLIENTS - 1 });
      expect(await counted(payments, merchantId)).toEqual(all4(1));
    }),
  );
});

test('two merchants that race for an unbound wallet: one gets it, and the other neither a payment nor a count', () =>
  withinOneDay(async () => {
    for (let round = 0; round < 20; round += 1) {
      const merchants = await Promise.all([newMerchant(payments), newMerchant(payments)]);
      const wallet = newWallet();
      const amounts = ['1', '2'];
      const answers = await all([0, 1], (who) => create(payments, merchants[who]!, { wallet, amount: amounts[who]! }));
      expect(tally(answers)).toEqual({ 201: 1, 409: 1 });
      const winner = answers.findIndex(({ status }) => status === 201);
      const { rows } = await payments.db.query('select merchant_id from wallet where address = $1', [wallet]);
      expect(rows).toEqual([{ merchant_id: merchants[winner] }]);
      expect(await counted(payments, merchants[1 - winner]!)).toEqual(all4(0));
    }
  }));

test('a merchant that is refused the slot on an unbound wallet does not keep the wallet', async () => {
  // An unfinished payment on a wallet that was released since.
  const [first, second] = await Promise.all([newMerchant(payments), newMerchant(payments)]);
  const wallet = newWallet();
  expect((await create(payments, first, { wallet, amount: '3' })).status).toBe(201);
  await payments.call('POST', `/wallets/${wallet}/release`, { actor: 'ada', reason: 'sold the shop' });
  expect((await create(payments, second, { wallet, amount: '3' })).status).toBe(409);
  const { rows } = await payments.db.query('select from wallet where address = $1', [wallet]);
  expect(rows).toEqual([]);
});

test('no payment is created after a pause is in force, however many requests were in flight', async () => {
  const merchantId = await newMerchant(payments);
  const paused = policyOf(merchantId, { policy_version: 2, creation_paused: true });
  let stopped = false;
  const answers: Answer<Payment>[] = [];
  const clients = Array.from({ length: 10 }, async () => {
    while (!stopped) answers.push(await create(payments, merchantId));
  });
  await eventually(() => expect(answers.length).toBeGreaterThan(20));
  payments.stubs.policies.set(merchantId, paused);
  await payments.publish(AccessChanged, { ...paused, changed_at: new Date().toISOString() });
  // What an operator's command waits for before it reports "paused".
  await eventually(async () => {
    const { json } = await payments.call<AccessPolicy>('GET', `/merchants/${merchantId}/gate`);
    expect(json.policy_version).toBe(2);
  });
  const inForce = await counted(payments, merchantId);
  const { rows } = await payments.db.query<{ now: Date }>('select clock_timestamp() as now');
  const answeredBefore = answers.length;
  await eventually(() => expect(answers.length).toBeGreaterThan(answeredBefore + 30));
  stopped = true;
  await Promise.all(clients);
  expect(await counted(payments, merchantId)).toEqual(inForce);
  const created = answers.filter(({ status }) => status === 201);
  expect(created).toHaveLength(inForce.payments);
  expect(created.every(({ json }) => new Date(json.created_at) <= rows[0]!.now)).toBe(true);
  expect(tally(answers)['403 creation_paused']).toBeGreaterThan(0);
  const { json: limits } = await payments.call<CreationLimits>('GET', `/merchants/${merchantId}/limits`);
  expect(limits).toMatchObject({ creation_allowed: false, lifetime_requests_used: inForce.lifetime });
});
