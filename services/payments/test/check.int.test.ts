import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CheckPayments } from '@quittance/contracts/http/payments/check.ts';
import type { ResponseOf } from '@quittance/contracts/call.ts';
import { confirmed, untilRecorded } from './acceptance-fixtures.ts';
import { newPayment, wholeSecond } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());

test('money that was seen before its payment existed is missed only once the payment no longer waits', async () => {
  const one = await newPayment(payments, { amount: '10' });
  const { payment_id: id, created_at: createdAt } = one.payment;
  const transfer = await one.observe({ ...confirmed, block_timestamp: wholeSecond(createdAt, -60) });
  await untilRecorded(payments, transfer);
  await one.age(10);
  /** @param minutes after the payment's creation; the block says one minute after it, by its own clock. */
  const seen = (minutes: number) =>
    payments.db.query(
      `update transfer set observed_at = created_at + $2 * interval '1 minute',
                           block_timestamp = date_trunc('second', created_at) + interval '1 minute'
         from payment where payment.payment_id = $1 and transaction_id = $3`,
      [id, minutes, transfer.transaction_id],
    );
  const missed = async (): Promise<string[]> => {
    const { json } = await payments.call<ResponseOf<typeof CheckPayments>>('GET', '/check/payments');
    return json.violations.filter(({ what }) => what.includes(id)).map(({ rule }) => rule);
  };
  const rule = 'money of the exact amount that came in time pays';

  await seen(2);
  expect(await missed()).toEqual([rule]);
  await seen(-2);
  expect(await missed()).toEqual([]);
  await payments.db.query(`update payment set status = 'EXPIRED' where payment_id = $1`, [id]);
  expect(await missed()).toEqual([rule]);
});
