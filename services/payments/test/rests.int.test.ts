import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sha256 } from '@quittance/contracts/ids.ts';
import {
  acceptAs,
  confirmed,
  countPaidMessages,
  observeAgain,
  untilDetails,
  untilRecorded,
} from './acceptance-fixtures.ts';
import { newPayment, newWallet, type Order, type TestPayment, wholeSecond } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

const dedicated = { dedicated_wallet: true };

/** A payment of 10 on its own address, or on the address of an earlier one. */
const newOne = (options: Order['options'] = dedicated, before?: TestPayment) =>
  newPayment(
    payments,
    { amount: '10', options, ...(before && { wallet: before.payment.merchant_wallet }) },
    before?.merchantId,
  );

async function arrive(one: TestPayment, amount: number, seconds = 10) {
  const change = { ...confirmed, block_timestamp: wholeSecond(new Date(), seconds) };
  const transfer = await one.observe({ amount_units: String(amount * 1e6), ...change });
  await untilRecorded(payments, transfer);
  return transfer;
}

async function endRest({ merchantId, payment }: TestPayment): Promise<void> {
  const path = `/merchants/${merchantId}/wallet-rests/${payment.merchant_wallet}`;
  expect(await payments.call('DELETE', path)).toMatchObject({ status: 200 });
}

async function cancelAndEndRest(one: TestPayment): Promise<void> {
  await one.cancel();
  await endRest(one);
}

const idOf = ({ transaction_id }: { transaction_id: string }) => ({ transaction_id });

describe('money on an address whose rest was ended early', () => {
  test('may be for every payment that had the address within the rests', async () => {
    const first = await newOne();
    await cancelAndEndRest(first);
    const second = await newOne(dedicated, first);
    await cancelAndEndRest(second);
    const third = await newOne(dedicated, first);
    const { transaction_id } = await arrive(third, 10);
    for (const one of [first, second, third])
      await untilDetails(one, { unmatched_transfers: [{ transaction_id, reason: 'ambiguous', candidate_count: 3 }] });
    await untilDetails(third, { status: 'PENDING', received_amount: '0' });
  });

  test('may no longer be for a payment that is PAID, and still pays nothing by itself', async () => {
    const first = await newOne();
    await arrive(first, 10, 0);
    await untilDetails(first, { status: 'PAID' });
    await endRest(first);
    const second = await newOne(dedicated, first);
    const transfer = await arrive(second, 10);
    await untilDetails(second, {
      status: 'PENDING',
      unmatched_transfers: [{ transaction_id: transfer.transaction_id, reason: 'ambiguous', candidate_count: 1 }],
    });
    await untilDetails(first, { unmatched_transfers: [] });
    expect((await acceptAs(payments, second.merchantId, { one: second, transfer })).status).toBe(200);
  });

  test('pays the newest payment when all are for one order, also one that shares the address', async () => {
    const first = await newOne({ ...dedicated, order_id: 'order 1' });
    await cancelAndEndRest(first);
    const second = await newOne({ order_id: 'order 1' }, first);
    const { transaction_id } = await arrive(second, 10);
    await untilDetails(second, { status: 'PAID', transaction: { transaction_id, accepted: false } });
    await untilDetails(first, {
      status: 'CANCELLED',
      unmatched_transfers: [{ transaction_id, reason: 'paid_another' }],
    });
    expect(await countPaidMessages(payments, second)).toBe(1);
  });

  test('is accepted one transfer at a time, because each may be somebody else’s', async () => {
    const first = await newOne();
    const own = await arrive(first, 2, 0);
    await untilDetails(first, { received_amount: '2' });
    await cancelAndEndRest(first);
    const second = await newOne(dedicated, first);
    const [small, large] = [await arrive(second, 3), await arrive(second, 7)];
    const accepting = (transfer: typeof small) =>
      acceptAs(payments, first.merchantId, { one: first, transfer, confirm_candidates: 2 });
    expect(await accepting(small)).toMatchObject({
      status: 409,
      json: { detail: expect.stringMatching(/carry 5 USDT, less than 90 %/) },
    });
    expect(await accepting(large)).toMatchObject({ status: 200, json: { status: 'PAID', received_amount: '9' } });
    // In one block they are in the order of their ids.
    const transfers = [idOf(large), idOf(own)]
      .toSorted((a, b) => (a.transaction_id < b.transaction_id ? -1 : 1))
      .map((id) => ({ ...id, counts: true }));
    await untilDetails(first, { transfers });
    await untilDetails(second, {
      status: 'PENDING',
      received_amount: '3',
      unmatched_transfers: [{ ...idOf(small), reason: 'ambiguous', candidate_count: 1 }],
    });
    // The customer is asked for the whole amount: nobody knows yet whose the 3 are.
    const token = second.payment.payment_url.split('/').at(-1)!;
    const body = { tokens_sha256: [sha256(token).toString('hex')] };
    const page = await payments.call<{ found: { received: object }[] }>('POST', '/public-payments', body);
    expect(page.json.found[0]!.received).toEqual({ amount: '0', missing: '10' });
  });

  test('is not listed as money of another payment once a reorganisation has moved it away', async () => {
    const first = await newOne({ order_id: 'order 1' });
    await first.cancel();
    const second = await newOne({ order_id: 'order 1' }, first);
    const transfer = await arrive(second, 10);
    await untilDetails(first, { unmatched_transfers: [{ reason: 'paid_another' }] });
    await observeAgain(payments, transfer, { ...confirmed, to: newWallet(), version: 9 });
    await untilDetails(first, { unmatched_transfers: [] });
    await untilDetails(second, { status: 'PAID' });
  });
});

describe('an address whose rest is over', () => {
  test.each([
    ['has it for itself', dedicated],
    ['shares it', {}],
  ])('is the next payment’s, which %s, also after the first one was accepted', async (_, options) => {
    const first = await newOne();
    const part = await arrive(first, 9.5, 0);
    await first.cancel();
    await payments.db.query(
      `update payment set created_at = created_at - interval '25 hours', expires_at = expires_at - interval '25 hours',
              cancelled_at = cancelled_at - interval '25 hours' where payment_id = $1`,
      [first.payment.payment_id],
    );
    const second = await newOne(options, first);
    expect((await acceptAs(payments, first.merchantId, { one: first, transfer: part })).status).toBe(200);
    const transfer = await arrive(second, 10);
    await untilDetails(second, { status: 'PAID', transaction: { transaction_id: transfer.transaction_id } });
    await untilDetails(first, { status: 'PAID', received_amount: '9.5', unmatched_transfers: [] });
  });
});
