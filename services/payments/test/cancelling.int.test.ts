import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import type { PaymentDetails } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { countSent, newMerchant, newPayment, type TestPayment, wholeSecond } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

const reaches = (one: TestPayment, expected: object): Promise<PaymentDetails> =>
  eventually(async () => {
    const details = await one.details();
    expect(details).toMatchObject(expected);
    return details;
  });

/** Waits until the ledger has this version of a transfer. */
const taken = (transfer: TransferObserved): Promise<Record<string, unknown>> =>
  eventually(async () => {
    const { rows } = await payments.db.query<Record<string, unknown>>(
      `select phase, payment_id, related_payment_id, candidates, reason from transfer
        where transaction_id = $1 and version >= $2`,
      [transfer.transaction_id, transfer.version],
    );
    if (rows[0] === undefined) throw new Error('not taken yet');
    return rows[0];
  });

const publishedFor = (one: TestPayment) => ({
  paid: payments.received.paid.filter(({ payment_id: id }) => id === one.payment.payment_id),
  closed: payments.received.closed.filter(({ payment_id: id }) => id === one.payment.payment_id),
});

const confirmed = { phase: 'confirmed', version: 2, confirmations: 2 } as const;

describe('cancelling', () => {
  test('answers the cancelled payment, sends PaymentClosed, and is 409 from then on', async () => {
    const one = await newPayment(payments);
    const answer = await one.cancel();
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      ...one.payment,
      status: 'CANCELLED',
      cancelled_at: expect.stringMatching(/Z$/),
    });
    await eventually(() =>
      expect(publishedFor(one).closed).toMatchObject([{ status: 'CANCELLED', closed_at: answer.json.cancelled_at }]),
    );
    expect((await one.cancel()).status).toBe(409);
  });

  test('is never before the creation, also when the database’s clock has stepped back since', async () => {
    const one = await newPayment(payments);
    const { rows } = await payments.db.query<{ created_at: Date }>(
      `update payment set created_at = created_at + interval '10 minutes', expires_at = expires_at + interval '10 minutes'
        where payment_id = $1 returning created_at`,
      [one.payment.payment_id],
    );
    const { cancelled_at: cancelledAt } = (await one.cancel()).json;
    expect(cancelledAt).toBe(rows[0]!.created_at.toISOString());
  });

  test('is the same 409 for an unknown payment, a foreign one and one that is being paid', async () => {
    const one = await newPayment(payments);
    const other = await newMerchant(payments);
    const foreign = await payments.call('POST', `/merchants/${other}/payments/${one.payment.payment_id}/cancel`);
    const unknown = await payments.call('POST', `/merchants/${other}/payments/pay_${'0'.repeat(32)}/cancel`);
    await one.observe();
    await reaches(one, { status: 'CHECKING' });
    const checking = await one.cancel();
    expect([foreign.status, foreign.text]).toEqual([409, unknown.text]);
    expect(checking.text).toBe(unknown.text);
  });

  test('keeps transfers from before it paying, once confirmed; later ones are after_cancel', async () => {
    const one = await newPayment(payments);
    await one.age(5);
    await one.cancel();
    const early = { block_timestamp: wholeSecond(new Date(), -60) };
    const seen = await one.observe(early);
    expect(await taken(seen)).toMatchObject({
      payment_id: null,
      related_payment_id: one.payment.payment_id,
      reason: null,
    });
    expect(await one.details()).toMatchObject({ status: 'CANCELLED', transaction: null, unmatched_transfers: [] });
    await taken(await one.observe({ ...confirmed, block_timestamp: wholeSecond(new Date(), 5) }));
    expect(await one.details()).toMatchObject({
      status: 'CANCELLED',
      unmatched_transfers: [{ reason: 'after_cancel' }],
    });
    await payments.publish(TransferObserved, { ...seen, ...confirmed });
    const paid = await reaches(one, { status: 'PAID', transaction: { transaction_id: seen.transaction_id } });
    expect(paid.cancelled_at).not.toBeNull();
    expect(await countSent(payments, one)).toEqual({ PaymentCreated: 1, PaymentPaid: 1, PaymentClosed: 1 });
    await eventually(() =>
      expect(publishedFor(one)).toEqual({ paid: [expect.anything()], closed: [expect.anything()] }),
    );
  });

  test('of a payment that races a transfer has one winner', async () => {
    const runs = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const one = await newPayment(payments);
        // The block is in the second of the cancellation, so the second of the two changes nothing.
        const [answer, transfer] = await Promise.all([
          one.cancel(),
          one.observe({ ...confirmed, block_timestamp: wholeSecond(new Date(), 0) }),
        ]);
        await taken(transfer);
        return { one, cancelled: answer.status === 200, details: await one.details() };
      }),
    );
    for (const { one, cancelled, details } of runs) {
      const inTime = details.status === 'PAID' && cancelled;
      // If it was cancelled after the block's second, the payment becomes PAID after all: the money wins.
      if (inTime) expect(Date.parse(details.cancelled_at ?? '')).toBeGreaterThan(Date.parse(one.payment.created_at));
      else expect(details.status).toBe(cancelled ? 'CANCELLED' : 'PAID');
      await eventually(() => expect(publishedFor(one).paid).toHaveLength(details.status === 'PAID' ? 1 : 0));
    }
  });
});
