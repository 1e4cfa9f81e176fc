import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { acceptAs, confirmed, observeAgain, untilDetails, untilRecorded } from './acceptance-fixtures.ts';
import { newPayment, type TestPayment, transferFor, wholeSecond } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());
afterEach(() => {
  payments.stubs.chain.scannedThrough = null;
  payments.stubs.chain.transfers = [];
});

/** Milliseconds after a payment's creation. */
const after = ({ payment }: TestPayment, ms: number): string =>
  new Date(Date.parse(payment.created_at) + ms).toISOString();

/** A transfer of a payment's amount in a block 4 s before it, which the 15 s of tolerance include; first read at this time. */
const early = (one: TestPayment, seenMs: number, change: Partial<TransferObserved> = {}): TransferObserved =>
  transferFor(one.merchantId, one.payment, {
    ...{ block_timestamp: wholeSecond(one.payment.created_at, -4), first_seen_at: after(one, seenMs), live: false },
    ...change,
  });

/** Expires the payment through the chain's answer, which is these transfers. */
async function askChain(one: TestPayment, transfers: readonly TransferObserved[]): Promise<void> {
  payments.stubs.chain.transfers = [...transfers];
  await payments.db.query(
    `update payment set expires_at = created_at + interval '1 second', expiry_check_at = created_at where payment_id = $1`,
    [one.payment.payment_id],
  );
  payments.stubs.chain.scannedThrough = new Date(Date.now() + 3_600_000);
}

describe('a transfer that was first read before a payment was created never pays it', () => {
  test('by its message, whichever comes first, the message or the payment', async () => {
    const one = await newPayment(payments);
    const known = early(one, -1, confirmed);
    await payments.publish(TransferObserved, known);
    expect(await untilRecorded(payments, known)).toMatchObject({ payment_id: null, related_payment_id: null });
    expect(await one.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: [] });
    // A millisecond later it could have been for this payment, the only one of its slot.
    const unknown = early(one, 0, confirmed);
    await payments.publish(TransferObserved, unknown);
    await untilDetails(one, { status: 'PAID', transaction: { transaction_id: unknown.transaction_id } });
  });

  test('by a review, which decides again about known transfers', async () => {
    const [earlier] = [await newPayment(payments)];
    const { merchant_wallet: wallet, amount } = earlier.payment;
    await earlier.cancel();
    // Published while no payment waits: it is in the ledger from now on, in a block whose interval reaches the next payment.
    const known = transferFor(earlier.merchantId, earlier.payment, {
      ...{ ...confirmed, block_timestamp: wholeSecond(new Date(), 1) },
    });
    await payments.publish(TransferObserved, known);
    await untilRecorded(payments, known);
    const next = await newPayment(payments, { wallet, amount }, earlier.merchantId);
    await askChain(next, [known]);
    await untilDetails(next, { status: 'EXPIRED', unmatched_transfers: [] });
    expect(await earlier.details()).toMatchObject({ unmatched_transfers: [{ reason: 'after_cancel' }] });
  });

  test('by a review that is the first to report it', async () => {
    const one = await newPayment(payments);
    const known = early(one, -1, confirmed);
    await askChain(one, [known]);
    await untilDetails(one, { status: 'EXPIRED', unmatched_transfers: [] });
    expect(await untilRecorded(payments, known)).toMatchObject({ payment_id: null });
  });

  test('by a message that does not say when: then it is known since it came', async () => {
    const elsewhere = await newPayment(payments);
    const {
      first_seen_at: _,
      live: __,
      ...silent
    } = transferFor(elsewhere.merchantId, elsewhere.payment, {
      ...{ ...confirmed, amount_units: '7000000', block_timestamp: wholeSecond(new Date(), 0) },
    });
    await payments.publish(TransferObserved, silent);
    const { first_seen_at: seen, live } = await untilRecorded(payments, silent);
    const { merchant_wallet: wallet } = elsewhere.payment;
    const one = await newPayment(payments, { wallet, amount: '7' }, elsewhere.merchantId);
    expect(live).toBe(false);
    expect(seen.getTime()).toBeLessThan(Date.parse(one.payment.created_at));
    await observeAgain(payments, silent, { version: 3, confirmations: 9 });
    expect(await one.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: [] });
  });

  test('but its merchant may accept it, because nothing says which payment it is for', async () => {
    const one = await newPayment(payments);
    const known = early(one, -1, confirmed);
    await payments.publish(TransferObserved, known);
    await untilRecorded(payments, known);
    expect(await acceptAs(payments, one.merchantId, { one, transfer: known })).toMatchObject({ status: 200 });
  });
});

describe('of several messages the earliest first reading counts', () => {
  const readingOf = async (transfer: TransferObserved) => {
    const { first_seen_at: seen, live } = await untilRecorded(payments, transfer);
    return [seen.toISOString(), live];
  };

  test('when a later one has a later one: after a reorganisation it was read in another block', async () => {
    const one = await newPayment(payments);
    const known = early(one, -1);
    await payments.publish(TransferObserved, known);
    expect(await readingOf(known)).toEqual([after(one, -1), false]);
    const again = { ...known, ...confirmed, first_seen_at: after(one, 9_000), live: true };
    await payments.publish(TransferObserved, again);
    expect(await readingOf(again)).toEqual([after(one, -1), false]);
    expect(await one.details()).toMatchObject({ status: 'PENDING', transaction: null });
  });

  test('when a later one has an earlier one: what it paid is free again', async () => {
    const one = await newPayment(payments);
    const seen = early(one, 2_000, { live: true });
    await payments.publish(TransferObserved, seen);
    await untilDetails(one, { status: 'CHECKING' });
    const known = { ...seen, ...confirmed, first_seen_at: after(one, -1), live: false };
    await payments.publish(TransferObserved, known);
    expect(await readingOf(known)).toEqual([after(one, -1), false]);
    await untilDetails(one, { status: 'PENDING', transaction: null, unmatched_transfers: [] });
  });

  test('what a payment was PAID with stays, and its payment PAID', async () => {
    const one = await newPayment(payments);
    const seen = early(one, 2_000, { ...confirmed, live: true });
    await payments.publish(TransferObserved, seen);
    await untilDetails(one, { status: 'PAID' });
    const known = { ...seen, version: 3, first_seen_at: after(one, -1), live: false };
    await payments.publish(TransferObserved, known);
    await untilRecorded(payments, known);
    expect(await one.details()).toMatchObject({ status: 'PAID' });
  });
});
