import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import type { PaymentDetails } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { accept, expire } from './acceptance-fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { countSent, newMerchant, newPayment, type TestPayment, transferFor, wholeSecond } from './fixtures.ts';

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

describe('a transfer of the exact amount', () => {
  test('takes a payment from PENDING through CHECKING to PAID, and PaymentPaid and PaymentClosed are sent once', async () => {
    const one = await newPayment(payments, { amount: '10.50', description: 'Zwei Karten' });
    const seen = await one.observe();
    const transaction = {
      transaction_id: seen.transaction_id,
      transaction_event_index: 3,
      block_number: 1234,
      block_timestamp: seen.block_timestamp,
      confirmations: 1,
      confirmations_required: 2,
    };
    expect(await reaches(one, { status: 'CHECKING' })).toMatchObject({ transaction, paid_at: null });
    await payments.publish(TransferObserved, { ...seen, ...confirmed });
    const paid = await reaches(one, { status: 'PAID', transaction: { ...transaction, confirmations: 2 } });
    expect(paid.unmatched_transfers).toEqual([]);
    await eventually(() =>
      expect(publishedFor(one)).toEqual({
        paid: [
          {
            payment_id: one.payment.payment_id,
            merchant_id: one.merchantId,
            expected_amount: '10.50',
            transaction_id: seen.transaction_id,
            transaction_event_index: 3,
            description: 'Zwei Karten',
            paid_at: paid.paid_at,
          },
        ],
        closed: [expect.objectContaining({ status: 'PAID', merchant_id: one.merchantId, closed_at: paid.paid_at })],
      }),
    );
  });

  test('pays once, however often and in whatever order its messages come', async () => {
    const one = await newPayment(payments);
    const seen = transferFor(one.merchantId, one.payment);
    await payments.publish(TransferObserved, { ...seen, ...confirmed });
    await reaches(one, { status: 'PAID' });
    // Each in its own message, so that the ledger's version has to stop them and not the inbox.
    const late = [seen, { ...seen, ...confirmed }, { ...seen, ...confirmed }];
    const ids = late.map(() => randomUUID());
    for (const [index, message] of late.entries()) await payments.publish(TransferObserved, message, ids[index]);
    await payments.publish(TransferObserved, { ...seen, ...confirmed, version: 3, confirmations: 9 });
    await reaches(one, { status: 'PAID', transaction: { confirmations: 9 } });
    await eventually(async () => {
      const { rows } = await payments.db.query('select from inbox where message_id = any($1::uuid[])', [ids]);
      expect(rows).toHaveLength(late.length);
    });
    expect(await countSent(payments, one)).toEqual({ PaymentCreated: 1, PaymentPaid: 1, PaymentClosed: 1 });
    await eventually(() => expect(publishedFor(one).paid).toHaveLength(1));
  });

  test('pays once when many come at once, and the others are duplicates', async () => {
    const one = await newPayment(payments);
    const transfers = await Promise.all(Array.from({ length: 8 }, () => one.observe({ ...confirmed, version: 1 })));
    await Promise.all(transfers.map(taken));
    const details = await reaches(one, { status: 'PAID' });
    expect(details.unmatched_transfers).toHaveLength(7);
    expect(new Set(details.unmatched_transfers.map(({ reason }) => reason))).toEqual(new Set(['duplicate']));
    expect(await countSent(payments, one)).toMatchObject({ PaymentPaid: 1 });
    await eventually(() => expect(publishedFor(one).paid).toHaveLength(1));
  });

  test('of a token with 18 decimals is compared exactly: one base unit more is overpaid, one less underpaid', async () => {
    const one = await newPayment(payments, { amount: '1.000001' });
    const more = await one.observe({ decimals: 18, amount_units: '1000001000000000001' });
    expect(await taken(more)).toMatchObject({ payment_id: null, reason: 'overpaid' });
    const less = await one.observe({ decimals: 18, amount_units: '1000000999999999999' });
    expect(await taken(less)).toMatchObject({ payment_id: null, reason: 'underpaid' });
    const details = await one.details();
    expect(details.status).toBe('PENDING');
    expect(details.unmatched_transfers).toHaveLength(2);
    expect(details.unmatched_transfers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ amount: '1.000001000000000001', reason: 'overpaid' }),
        expect.objectContaining({ amount: '1.000000999999999999', reason: 'underpaid' }),
      ]),
    );
    await one.observe({ decimals: 18, amount_units: '1000001000000000000' });
    await reaches(one, { status: 'CHECKING' });
  });
});

describe('a reorg', () => {
  test('takes CHECKING back to PENDING, and the transfer pays when it returns in another block', async () => {
    const one = await newPayment(payments);
    const seen = await one.observe();
    await reaches(one, { status: 'CHECKING' });
    await payments.publish(TransferObserved, { ...seen, phase: 'retracted', version: 2, confirmations: 0 });
    await reaches(one, { status: 'PENDING', transaction: null, unmatched_transfers: [] });
    await payments.publish(TransferObserved, { ...seen, phase: 'confirmed', version: 4, block_number: 1240 });
    await reaches(one, { status: 'PAID', transaction: { block_number: 1240 } });
  });

  test('reassigns the payment to another transfer of the amount that counted as duplicate until then', async () => {
    const one = await newPayment(payments);
    const first = await one.observe();
    await reaches(one, { status: 'CHECKING' });
    const second = await one.observe(confirmed);
    expect(await taken(second)).toMatchObject({ reason: 'duplicate' });
    await payments.publish(TransferObserved, { ...first, phase: 'retracted', version: 2 });
    await reaches(one, { status: 'PAID', transaction: { transaction_id: second.transaction_id } });
    await eventually(() => expect(publishedFor(one).paid).toHaveLength(1));
  });

  test('that brings the transfer back with another amount leaves the payment waiting', async () => {
    const one = await newPayment(payments, { amount: '5' });
    const seen = await one.observe();
    await reaches(one, { status: 'CHECKING' });
    await payments.publish(TransferObserved, { ...seen, version: 3, amount_units: '4000000' });
    await reaches(one, {
      status: 'PENDING',
      transaction: null,
      unmatched_transfers: [{ amount: '4', reason: 'underpaid' }],
    });
  });

  test('that brings the transfer back after the expiry makes it late, which is shown when the payment has expired', async () => {
    const one = await newPayment(payments);
    const seen = await one.observe();
    await reaches(one, { status: 'CHECKING' });
    await payments.publish(TransferObserved, {
      ...seen,
      ...confirmed,
      block_timestamp: wholeSecond(one.payment.expires_at, 1),
    });
    await reaches(one, { status: 'PENDING', transaction: null, unmatched_transfers: [] });
    await expire(payments, one);
    expect(await one.details()).toMatchObject({ unmatched_transfers: [{ reason: 'late', candidate_count: 1 }] });
  });

  test('after PAID undoes nothing and opens an incident', async () => {
    const one = await newPayment(payments);
    const seen = await one.observe({ phase: 'confirmed' });
    const paid = await reaches(one, { status: 'PAID' });
    await payments.publish(TransferObserved, { ...seen, phase: 'retracted', version: 2 });
    const { incidents } = await eventually(async () => {
      const { json } = await payments.call<{ incidents: object[] }>('GET', `/payments/${one.payment.payment_id}`);
      expect(json.incidents).toHaveLength(1);
      return json;
    });
    expect(incidents[0]).toMatchObject({ kind: 'paid_transfer_gone', transaction_id: seen.transaction_id });
    await eventually(() =>
      expect(payments.logs().some(({ level, msg }) => level === 'error' && /gone/.test(msg))).toBe(true),
    );
    expect(await one.details()).toMatchObject({ status: 'PAID', paid_at: paid.paid_at });
  });
});

describe('a transfer that does not fit', () => {
  test('of another amount is shown with its reason and pays nothing', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const less = await one.observe({ ...confirmed, amount_units: '9999999' });
    const more = await one.observe({ ...confirmed, amount_units: '10000001' });
    await Promise.all([taken(less), taken(more)]);
    const details = await one.details();
    expect(details.status).toBe('PENDING');
    expect(details.unmatched_transfers).toHaveLength(2);
    expect(details.unmatched_transfers).toEqual(
      expect.arrayContaining([
        {
          transaction_id: less.transaction_id,
          transaction_event_index: 3,
          amount: '9.999999',
          block_timestamp: less.block_timestamp,
          reason: 'underpaid',
          candidate_count: 1,
        },
        expect.objectContaining({ amount: '10.000001', reason: 'overpaid', candidate_count: 1 }),
      ]),
    );
  });

  test('may be for every payment that waited on the wallet for a near amount, and names none of them alone', async () => {
    const ten = await newPayment(payments, { amount: '10' });
    const twenty = await newPayment(payments, { amount: '20', wallet: ten.payment.merchant_wallet }, ten.merchantId);
    const far = await newPayment(payments, { amount: '100', wallet: ten.payment.merchant_wallet }, ten.merchantId);
    const transfer = await ten.observe({ amount_units: '16000000', block_timestamp: wholeSecond(new Date(), 1) });
    expect(await taken(transfer)).toMatchObject({
      related_payment_id: null,
      candidates: [twenty.payment.payment_id, ten.payment.payment_id],
      reason: 'underpaid',
    });
    expect((await ten.details()).unmatched_transfers).toMatchObject([{ reason: 'overpaid', candidate_count: 2 }]);
    expect((await twenty.details()).unmatched_transfers).toMatchObject([{ reason: 'underpaid', candidate_count: 2 }]);
    expect((await far.details()).unmatched_transfers).toEqual([]);
  });

  test('after the expiry is late once the payment has expired, and has no reason before', async () => {
    const late = await newPayment(payments);
    const transfer = await late.observe({ ...confirmed, block_timestamp: wholeSecond(late.payment.expires_at, 1) });
    expect(await taken(transfer)).toMatchObject({ payment_id: null, related_payment_id: null, reason: null });
    expect(await late.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: [] });
    await expire(payments, late);
    expect(await late.details()).toMatchObject({ unmatched_transfers: [{ reason: 'late', candidate_count: 1 }] });
  });

  test('after the expiry of a payment that other money has paid since is a duplicate', async () => {
    const one = await newPayment(payments);
    const after = await one.observe({ ...confirmed, block_timestamp: wholeSecond(one.payment.expires_at, 1) });
    await taken(after);
    await one.observe(confirmed);
    await reaches(one, { status: 'PAID' });
    await payments.publish(TransferObserved, { ...after, version: 3, confirmations: 3 });
    await reaches(one, { unmatched_transfers: [{ transaction_id: after.transaction_id, reason: 'duplicate' }] });
  });

  test('is a duplicate when the amount came twice', async () => {
    const twice = await newPayment(payments);
    await twice.observe(confirmed);
    await reaches(twice, { status: 'PAID' });
    await taken(await twice.observe());
    expect(await twice.details()).toMatchObject({ status: 'PAID', unmatched_transfers: [{ reason: 'duplicate' }] });
  });

  test('from the wallet to itself pays nothing and belongs to no payment', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const around = await one.observe({ ...confirmed, from: one.payment.merchant_wallet });
    expect(await taken(around)).toMatchObject({ payment_id: null, related_payment_id: null, reason: null });
    await taken(await one.observe({ from: one.payment.merchant_wallet, amount_units: '9500000' }));
    expect(await one.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: [] });
    expect((await accept(payments, one, around)).json).toMatchObject({
      code: 'transfer_not_acceptable',
      detail: expect.stringContaining('from the wallet to itself'),
    });
  });

  test('to a wallet without payments is recorded in the ledger and changes nothing', async () => {
    const merchantId = await newMerchant(payments);
    const elsewhere = await newPayment(payments, {}, merchantId);
    const transfer = await elsewhere.observe({ to: '0xdAC17F958D2ee523a2206206994597C13D831ec7' });
    expect(await taken(transfer)).toEqual({
      ...{ phase: 'seen', payment_id: null, related_payment_id: null, candidates: null, reason: null },
    });
  });
});

describe('the slot after a payment', () => {
  test('keeps an early transfer for the old payment and a later one for the new', async () => {
    const first = await newPayment(payments, { amount: '3' });
    await first.age(10);
    await first.cancel();
    const second = await newPayment(payments, { amount: '3', wallet: first.payment.merchant_wallet }, first.merchantId);
    const late = await second.observe({ ...confirmed, block_timestamp: wholeSecond(second.payment.created_at, 5) });
    await reaches(second, { status: 'PAID', transaction: { transaction_id: late.transaction_id } });
    // The customer of the first may have paid late: its merchant sees where the money is, and nothing else about the other payment.
    expect(await first.details()).toMatchObject({
      status: 'CANCELLED',
      unmatched_transfers: [{ transaction_id: late.transaction_id, reason: 'paid_another' }],
    });
    const early = await first.observe({ ...confirmed, block_timestamp: wholeSecond(new Date(), -300) });
    await reaches(first, { status: 'PAID', transaction: { transaction_id: early.transaction_id } });
  });

  test('shares money that came within five seconds of its creation with the one before it: neither is paid', async () => {
    const first = await newPayment(payments, { amount: '3' });
    await first.age(10);
    await first.cancel();
    const second = await newPayment(payments, { amount: '3', wallet: first.payment.merchant_wallet }, first.merchantId);
    const hasty = await second.observe({ ...confirmed, block_timestamp: wholeSecond(second.payment.created_at, 4) });
    await taken(hasty);
    const shown = { transaction_id: hasty.transaction_id, reason: 'ambiguous', candidate_count: 2 };
    expect(await first.details()).toMatchObject({ status: 'CANCELLED', unmatched_transfers: [shown] });
    expect(await second.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: [shown] });
  });

  test('gives a payment created right after a paid one its own transfer, in a block of the same second', async () => {
    const first = await newPayment(payments, { amount: '3' });
    await first.observe(confirmed);
    await reaches(first, { status: 'PAID' });
    const second = await newPayment(payments, { amount: '3', wallet: first.payment.merchant_wallet }, first.merchantId);
    await second.observe({ ...confirmed, block_timestamp: wholeSecond(second.payment.created_at, 0) });
    await reaches(second, { status: 'PAID' });
    await newPayment(payments, { amount: '3', wallet: first.payment.merchant_wallet }, first.merchantId);
  });
});
