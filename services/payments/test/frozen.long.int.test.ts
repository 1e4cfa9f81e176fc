import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { create, newKey, newMerchant, newPayment, newWallet } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

// Real processes are slow on a busy machine; no test here depends on the time.

let payments: PaymentsUnderTest;
afterEach(async () => {
  payments.resume();
  await payments.close();
});

/** Like the gateway: it sends its deadline, and hangs up then. Even a slow machine reaches the point of the freeze sooner. */
const WAIT_MS = 4_000;
const impatient = (waitMs = WAIT_MS) => ({
  headers: { 'x-timeout-ms': String(waitMs) },
  signal: AbortSignal.timeout(waitMs),
  once: true,
});

/** Without the limit that ends every transaction which is idle for ten seconds. */
const sessionOptions = '-c idle_in_transaction_session_timeout=0';

const stored = async (merchantId: string) =>
  (await payments.db.query<{ status: string }>('select status from payment where merchant_id = $1', [merchantId])).rows;

/** Waits until PostgreSQL has ended the frozen process's transaction that holds the merchant's gate. */
const gateFree = (merchantId: string) =>
  eventually(() => payments.db.query('select from gate where merchant_id = $1 for update nowait', [merchantId]));

/** The failed requests: 499 if the process saw first that the caller was gone, else 503. */
const failedRequests = () =>
  payments.logs().filter((entry) => 'status' in entry && [499, 503].includes(Number(entry.status))).length;

/** The callers hang up on a frozen process; then it continues. */
async function hungUp(merchantId: string, requests: Promise<unknown>[]): Promise<void> {
  const before = failedRequests();
  const outcomes = await Promise.allSettled(requests);
  expect(outcomes.map(({ status }) => status)).toEqual(requests.map(() => 'rejected'));
  await gateFree(merchantId);
  payments.resume();
  await eventually(() => expect(failedRequests()).toBe(before + requests.length));
}

test.each(['creation-written', 'commit-allowed'])(
  'a creation whose process is frozen at %s stores nothing once its caller has hung up, and holds no lock meanwhile',
  async (point) => {
    payments = await startPayments({ settings: { FAULT_POINT: `freeze:${point}` }, sessionOptions });
    const merchantId = await newMerchant(payments);
    const order = { key: newKey(), wallet: newWallet() };
    await hungUp(merchantId, [create(payments, merchantId, order, impatient())]);
    expect(await stored(merchantId)).toEqual([]);
    expect((await create(payments, merchantId, { ...order, key: newKey() })).status).toBe(201);
    await eventually(() => expect(payments.received.created).toHaveLength(1));
    expect(await stored(merchantId)).toHaveLength(1);
  },
);

test('a creation whose process is frozen right after its commit may be stored: its key gets the lost answer', async () => {
  payments = await startPayments({ settings: { FAULT_POINT: 'freeze:request-committed' } });
  const merchantId = await newMerchant(payments);
  const order = { key: newKey(), wallet: newWallet() };
  await expect(create(payments, merchantId, order, impatient())).rejects.toThrow();
  payments.resume();
  const again = await create(payments, merchantId, order);
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  expect(await stored(merchantId)).toHaveLength(1);
});

test('a request that reaches a frozen process, and whose caller has hung up when it continues, changes nothing', async () => {
  payments = await startPayments();
  const { merchantId, payment } = await newPayment(payments);
  // The relay is idle again, so the process holds no other transaction.
  await eventually(() => expect(payments.received.created).toHaveLength(1));
  const other = await newMerchant(payments);
  const cancel = `/merchants/${merchantId}/payments/${payment.payment_id}/cancel`;
  payments.pause();
  await hungUp(other, [
    create(payments, other, {}, impatient()),
    payments.call('POST', cancel, undefined, impatient()),
  ]);
  expect(await stored(other)).toEqual([]);
  expect(await stored(merchantId)).toEqual([{ status: 'PENDING' }]);
});

test('a process that is frozen at any time stores nothing after its callers have hung up', async () => {
  payments = await startPayments();
  const merchantId = await newMerchant(payments);
  await newPayment(payments, {}, merchantId);
  for (let round = 0; round < 5; round += 1) {
    const requests = Array.from({ length: 8 }, () => create(payments, merchantId, {}, impatient(400)));
    const settled = Promise.allSettled(requests);
    await sleep(Math.random() * 30);
    payments.pause();
    await settled;
    await gateFree(merchantId);
    // A creation in the middle of its commit may be stored, and its answer lost; nothing else is added.
    const before = await stored(merchantId);
    payments.resume();
    await eventually(async () => expect(await payments.ready()).toBe(200));
    await eventually(async () => expect((await create(payments, merchantId, {}, impatient(20_000))).status).toBe(201));
    expect(await stored(merchantId)).toHaveLength(before.length + 1);
  }
});
