import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CheckPayments } from '@quittance/contracts/http/check.ts';
import type { ResponseOf } from '@quittance/contracts/call.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { accept, confirmed, untilRecorded } from './acceptance-fixtures.ts';
import { dustOn } from './dust.ts';
import { newPayment, newWallet, wholeSecond } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());

test('money in time that paid nothing is found, but not money that was known before its payment existed', async () => {
  const one = await newPayment(payments, { amount: '10' });
  const { payment_id: id, created_at: createdAt } = one.payment;
  const transfer = await one.observe({ ...confirmed, block_timestamp: wholeSecond(createdAt, -60) });
  await untilRecorded(payments, transfer);
  await one.age(10);
  /** @param minutes after the payment's creation; the block's own time is one minute after it. */
  const seen = (minutes: number, column: 'first_seen_at' | 'observed_at') =>
    payments.db.query(
      `update transfer set first_seen_at = case when $4 then seen_at end, block_timestamp = date_trunc('second', created_at) + interval '1 minute',
                           observed_at = case when $4 then now() - interval '5 minutes' else seen_at end
         from payment, lateral (select created_at + $2 * interval '1 minute' as seen_at) seen
        where payment.payment_id = $1 and transaction_id = $3`,
      [id, minutes, transfer.transaction_id, column === 'first_seen_at'],
    );
  const missed = async (): Promise<string[]> => {
    const { json } = await payments.call<ResponseOf<typeof CheckPayments>>('GET', '/check/payments');
    return json.violations.filter(({ what }) => what.includes(id)).map(({ rule }) => rule);
  };
  const rule = 'money of the exact amount that came in time pays';

  for (const status of ['PENDING', 'EXPIRED']) {
    await payments.db.query('update payment set status = $2 where payment_id = $1', [id, status]);
    // A row of an earlier release counts as known from when it was written.
    for (const column of ['first_seen_at', 'observed_at'] as const) {
      await seen(2, column);
      expect({ status, column, missed: await missed() }).toEqual({ status, column, missed: [rule] });
      await seen(-2, column);
      expect({ status, column, missed: await missed() }).toEqual({ status, column, missed: [] });
    }
  }
});

test('money that is the duplicate of one payment is not reported for another payment of its order', async () => {
  const order = { amount: '10', wallet: newWallet(), options: { order_id: 'A-1' } };
  const one = await newPayment(payments, order);
  await one.age(40);
  await payments.db.query(`update payment set status = 'EXPIRED' where payment_id = $1`, [one.payment.payment_id]);
  const two = await newPayment(payments, order, one.merchantId);
  await untilRecorded(payments, await two.observe({ phase: 'seen', confirmations: 1 }));
  // From a chain whose clock is far behind: it may be for both, and the newest one has its money.
  const transfer = await two.observe({
    ...confirmed,
    ...{ block_timestamp: wholeSecond(one.payment.created_at, -39 * 60) },
    ...{ first_seen_at: new Date().toISOString(), live: true },
  });
  const recorded = await untilRecorded(payments, transfer);
  expect(recorded).toMatchObject({ related_payment_id: two.payment.payment_id, reason: 'duplicate' });
  await payments.db.query(`update transfer set observed_at = now() - interval '5 minutes' where transaction_id = $1`, [
    transfer.transaction_id,
  ]);
  const { json } = await payments.call<ResponseOf<typeof CheckPayments>>('GET', '/check/payments');
  expect(json.violations.filter(({ what }) => what.includes(one.payment.payment_id))).toEqual([]);
});

test('a payment that is PAID with what was known before it is found, unless somebody accepted that', async () => {
  const one = await newPayment(payments, { amount: '10' });
  const transfer = await one.observe(confirmed);
  await untilRecorded(payments, transfer);
  const found = async (): Promise<string[]> => {
    const { json } = await payments.call<ResponseOf<typeof CheckPayments>>('GET', '/check/payments');
    return json.violations.filter(({ what }) => what.includes(one.payment.payment_id)).map(({ rule }) => rule);
  };
  expect(await found()).toEqual([]);
  await payments.db.query(
    `update transfer set first_seen_at = $2::timestamptz - interval '1 ms' where transaction_id = $1`,
    [transfer.transaction_id, one.payment.created_at],
  );
  expect(await found()).toEqual(['I18 money that was known before the payment does not pay it']);

  const other = await newPayment(payments, { amount: '10' });
  const known = await other.observe({ ...confirmed, first_seen_at: wholeSecond(other.payment.created_at, -9) });
  await untilRecorded(payments, known);
  expect((await accept(payments, other, known)).status).toBe(200);
  const { json } = await payments.call<ResponseOf<typeof CheckPayments>>('GET', '/check/payments');
  expect(json.violations.filter(({ what }) => what.includes(other.payment.payment_id))).toEqual([]);
});

test('a payment that was paid in very many parts is listed with the one that completed it, and some others', async () => {
  const one = await newPayment(payments, { amount: '10', options: { dedicated_wallet: true } });
  const { payment_id: id } = one.payment;
  const dust = dustOn(one, 150).map((grain) => ({ ...grain, ...confirmed }));
  await payments.publishAll(TransferObserved, dust);
  await Promise.all(dust.map((grain) => untilRecorded(payments, grain)));
  const payer = await one.observe({ ...confirmed, amount_units: '10000000', block_number: 2_000_000_000 });
  await untilRecorded(payments, payer);
  const { json } = await payments.call<ResponseOf<typeof CheckPayments>>('GET', '/check/payments');
  const listed = json.payments.filter(({ payment_id: listedId }) => listedId === id);
  expect([listed.length, listed[0]?.transfer?.transaction_id]).toEqual([100, payer.transaction_id]);
});
