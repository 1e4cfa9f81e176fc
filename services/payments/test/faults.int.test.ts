import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newKey, newMerchant, newPayment, newWallet } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());

const createdMessages = (paymentId: string) =>
  payments.received.created.filter(({ payment_id: received }) => received === paymentId);

test('without the broker payments are created, and their messages are sent once it is back', async () => {
  payments.faults.broker.cut();
  const { payment } = await newPayment(payments);
  expect(await payments.ready()).toBe(200);
  expect(createdMessages(payment.payment_id)).toEqual([]);
  payments.faults.broker.restore();
  await eventually(() => expect(createdMessages(payment.payment_id)).toHaveLength(1));
});

test('without the database everything is 503, and the same key succeeds once it is back', async () => {
  const one = await newPayment(payments);
  const merchantId = await newMerchant(payments);
  const order = { key: newKey(), wallet: newWallet() };
  payments.faults.database.cut();
  const unavailable = { status: 503, json: { detail: 'Service temporarily unavailable' } };
  const once = { once: true };
  expect(await create(payments, merchantId, order, once)).toMatchObject(unavailable);
  const cancel = `/merchants/${one.merchantId}/payments/${one.payment.payment_id}/cancel`;
  expect(await payments.call('POST', cancel, undefined, once)).toMatchObject(unavailable);
  for (const path of ['payments', 'limits', 'gate']) {
    expect(await payments.call('GET', `/merchants/${one.merchantId}/${path}`, undefined, once)).toMatchObject(
      unavailable,
    );
  }
  const views = [
    ['/payment-details', { payments: [{ merchant_id: one.merchantId, payment_id: one.payment.payment_id }] }],
    ['/public-payments', { tokens_sha256: ['0'.repeat(64)] }],
  ] as const;
  for (const [path, body] of views) expect(await payments.call('POST', path, body, once)).toMatchObject(unavailable);
  expect(await payments.ready()).toBe(503);
  payments.faults.database.restore();
  await eventually(async () => expect(await payments.ready()).toBe(200));
  expect((await create(payments, merchantId, order)).status).toBe(201);
  expect(await one.details()).toMatchObject({ status: 'PENDING' });
});

test('a database that drops packets makes creation 503, never a hang', async () => {
  const merchantId = await newMerchant(payments);
  const order = { key: newKey(), wallet: newWallet() };
  payments.faults.database.stall();
  const answer = await create(payments, merchantId, order, { once: true });
  payments.faults.database.restore();
  expect(answer.status).toBe(503);
  expect((await create(payments, merchantId, order)).status).toBe(201);
  const { rows } = await payments.db.query('select from payment where merchant_id = $1', [merchantId]);
  expect(rows).toHaveLength(1);
});

/** How long the gateway waits for an answer before it returns 503 itself. */
const GATEWAY_DEADLINE_MS = 1_500;

test.each([
  ["the merchant's gate was locked", lockGate],
  ['the database stood still', stallDatabase],
])('a creation that timed out at the gateway while %s stores nothing', async (_, obstruct) => {
  const merchantId = await newMerchant(payments);
  const release = await obstruct(merchantId);
  const headers = { 'x-timeout-ms': String(GATEWAY_DEADLINE_MS) };
  const answer = create(payments, merchantId, {}, { headers, once: true });
  // The deadline runs from when the service reads the request, which is later than now on a busy machine.
  await sleep(3 * GATEWAY_DEADLINE_MS);
  await release();
  expect((await answer).status).toBe(503);
  const { rows } = await payments.db.query('select from payment where merchant_id = $1', [merchantId]);
  expect(rows).toEqual([]);
  expect((await create(payments, merchantId)).status).toBe(201);
});

async function lockGate(merchantId: string): Promise<() => Promise<void>> {
  const holder = await payments.db.connect();
  await holder.query('begin; set local idle_in_transaction_session_timeout = 0');
  await holder.query('select from gate where merchant_id = $1 for update', [merchantId]);
  return async () => {
    await holder.query('rollback');
    holder.release();
  };
}

async function stallDatabase(): Promise<() => Promise<void>> {
  // A connection is available, so the creation's own statements are what hangs.
  await newPayment(payments);
  payments.faults.database.stall();
  return async () => payments.faults.database.restore();
}
