import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { author } from './acceptance-fixtures.ts';
import { newPayment, transferFor, wholeSecond, type TestPayment } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());

const cancel = (paymentId: string, body: object = author) =>
  payments.call<Payment>('POST', `/payments/${paymentId}/cancel`, body);
const shown = async ({ payment: { payment_id: id } }: TestPayment) =>
  (await payments.call<OperatorsPayment>('GET', `/payments/${id}`)).json;
const audit = async ({ merchantId }: TestPayment) =>
  (await payments.call<{ entries: unknown[] }>('GET', `/merchants/${merchantId}/audit`)).json;

test("an operator's cancel ends a payment as its merchant's does, and says who and why", async () => {
  const one = await newPayment(payments);
  const { payment_id: id } = one.payment;
  const answer = await cancel(id);
  expect([answer.status, answer.json.status]).toEqual([200, 'CANCELLED']);
  const at = answer.json.cancelled_at;
  expect(await shown(one)).toMatchObject({ status: 'CANCELLED', cancellation: { ...author, cancelled_at: at } });
  await eventually(() =>
    expect(payments.received.closed.filter(({ payment_id }) => payment_id === id)).toMatchObject([
      { status: 'CANCELLED' },
    ]),
  );
  const entry = {
    ...{ at, action: 'cancel_payment', ...author, before: { status: 'PENDING' } },
    after: { payment_id: id, status: 'CANCELLED' },
  };
  expect(await audit(one)).toEqual({ entries: [entry] });
});

test('a payment that is not PENDING is refused with its status, and nothing is written', async () => {
  const checking = await newPayment(payments);
  await checking.observe();
  await eventually(async () => expect((await checking.details()).status).toBe('CHECKING'));
  const refused = await cancel(checking.payment.payment_id);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('is CHECKING: only a PENDING payment')]);
  const cancelled = await newPayment(payments);
  expect((await cancelled.cancel()).status).toBe(200);
  expect((await cancel(cancelled.payment.payment_id)).status).toBe(409);
  expect((await cancel(newId('pay'))).status).toBe(404);
  for (const one of [checking, cancelled]) {
    expect(await audit(one)).toEqual({ entries: [] });
    expect((await shown(one)).cancellation).toBeNull();
  }
});

test('without a reason nothing is cancelled', async () => {
  const one = await newPayment(payments);
  expect((await cancel(one.payment.payment_id, { actor: 'olga' })).status).toBe(422);
  expect((await one.details()).status).toBe('PENDING');
});

test('money that came in time still pays the payment, and the record of its cancellation stays', async () => {
  const one = await newPayment(payments);
  const transfer = transferFor(one.merchantId, one.payment, { phase: 'confirmed', version: 2, confirmations: 2 });
  await one.age(1);
  await cancel(one.payment.payment_id);
  // At least half a minute before the cancel, however slow the machine is.
  await one.observe({ ...transfer, block_timestamp: wholeSecond(one.payment.created_at, -30) });
  await eventually(async () => expect((await shown(one)).status).toBe('PAID'));
  expect((await shown(one)).cancellation).toMatchObject(author);
});
