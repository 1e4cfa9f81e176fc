import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type AcceptanceContext, acceptTransfer } from '../src/acceptance/accept.ts';
import {
  accept,
  type Acceptance,
  acceptances,
  countPaidMessages,
  author,
  confirmed,
  expire,
  incidents,
  untilDetails,
  messagesAbout,
  observeAgain,
  untilRecorded,
  underpaid,
} from './acceptance-fixtures.ts';
import { type Answer, type PaymentsUnderTest, startPayments } from './service.ts';
import { newMerchant, newPayment, newWallet, wholeSecond } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

describe('accepting a transfer', () => {
  test('that underpaid makes the payment PAID: with one PaymentPaid of the requested amount, and audited', async () => {
    const one = await newPayment(payments, { amount: '10.50', description: 'Zwei Karten' });
    const transfer = await one.observe({ amount_units: '9500000' });
    await untilRecorded(payments, transfer);
    await untilDetails(one, { status: 'PENDING', unmatched_transfers: [{ reason: 'underpaid', amount: '9.5' }] });
    const answer = await accept(payments, one, transfer);
    const paid = await one.details();
    expect(paid).toMatchObject({
      status: 'PAID',
      amount: '10.50',
      transaction: {
        transaction_id: transfer.transaction_id,
        transaction_event_index: 3,
        block_number: 1234,
        confirmations: 17,
        confirmations_required: 2,
      },
      unmatched_transfers: [],
    });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      payment_id: one.payment.payment_id,
      merchant_id: one.merchantId,
      status: 'PAID',
      status_before: 'PENDING',
      expected_amount: '10.50',
      network: 'local',
      transaction_id: transfer.transaction_id,
      transaction_event_index: 3,
      amount: '9.5',
      unmatched_reason: 'underpaid',
      block_number: 1234,
      block_hash: transfer.block_hash,
      block_timestamp: transfer.block_timestamp,
      confirmations: 17,
      ...author,
      accepted_at: expect.stringMatching(/Z$/),
    });
    expect((await payments.call('GET', `/merchants/${one.merchantId}/audit`)).json).toEqual({
      entries: [
        {
          at: answer.json.accepted_at,
          action: 'accept_transfer',
          ...author,
          before: { status: 'PENDING' },
          after: {
            payment_id: one.payment.payment_id,
            status: 'PAID',
            transaction_id: transfer.transaction_id,
            transaction_event_index: 3,
          },
        },
      ],
    });
    expect(await countPaidMessages(payments, one)).toBe(1);
    await eventually(() =>
      expect(messagesAbout(payments, one)).toEqual({
        paid: [
          {
            payment_id: one.payment.payment_id,
            merchant_id: one.merchantId,
            expected_amount: '10.50',
            transaction_id: transfer.transaction_id,
            transaction_event_index: 3,
            description: 'Zwei Karten',
            paid_at: paid.paid_at,
            accepted: true,
            transfer: {
              amount: '9.5',
              reason: 'underpaid',
              network: 'local',
              merchant_wallet: one.payment.merchant_wallet,
              block_timestamp: transfer.block_timestamp,
            },
          },
        ],
        closed: [expect.objectContaining({ status: 'PAID', closed_at: paid.paid_at })],
      }),
    );
    expect(payments.stubs.verified).toContainEqual({
      network: 'local',
      transaction_id: transfer.transaction_id,
      transaction_event_index: 3,
    });
    const [row] = await acceptances(payments, 'payment_id', one.payment.payment_id);
    expect(row).toMatchObject({ ...author, status_before: 'PENDING', amount_units: '9500000', confirmations: 17 });
    const { json } = await payments.call('GET', `/payments/${one.payment.payment_id}`);
    expect(json).toMatchObject({ status: 'PAID', acceptance: answer.json });
  });

  test('that overpaid works as well', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const transfer = await one.observe({ amount_units: '10000001' });
    await untilRecorded(payments, transfer);
    expect((await accept(payments, one, transfer)).json).toMatchObject({
      amount: '10.000001',
      unmatched_reason: 'overpaid',
    });
    expect(await countPaidMessages(payments, one)).toBe(1);
  });

  test('that came late pays an EXPIRED payment, for which PaymentClosed was sent before', async () => {
    const one = await newPayment(payments);
    await expire(payments, one);
    const transfer = await one.observe({ ...confirmed, block_timestamp: wholeSecond(new Date(), 0) });
    expect(await untilRecorded(payments, transfer)).toMatchObject({ reason: 'late' });
    expect((await accept(payments, one, transfer)).json).toMatchObject({
      status_before: 'EXPIRED',
      unmatched_reason: 'late',
    });
    expect(await countPaidMessages(payments, one)).toBe(1);
    await eventually(() => expect(messagesAbout(payments, one).closed).toMatchObject([{ status: 'EXPIRED' }]));
  });

  test('that came after the cancellation pays a CANCELLED payment, and a newer payment keeps its slot', async () => {
    const one = await newPayment(payments, { amount: '3' });
    await one.cancel();
    const transfer = await one.observe({ ...confirmed, block_timestamp: wholeSecond(new Date(), 5) });
    expect(await untilRecorded(payments, transfer)).toMatchObject({ reason: 'after_cancel' });
    const newer = await newPayment(payments, { amount: '3', wallet: one.payment.merchant_wallet }, one.merchantId);
    const { json } = await accept(payments, one, transfer);
    expect(json).toMatchObject({ status_before: 'CANCELLED', unmatched_reason: 'after_cancel' });
    expect(await one.details()).toMatchObject({ status: 'PAID', cancelled_at: expect.any(String) });
    await newer.observe({ ...confirmed, block_timestamp: wholeSecond(new Date(), 30) });
    await untilDetails(newer, { status: 'PAID' });
    expect(await countPaidMessages(payments, one)).toBe(1);
  });

  test('that came before any payment was on its wallet has no reason', async () => {
    const merchantId = await newMerchant(payments);
    const elsewhere = await newPayment(payments, {}, merchantId);
    const wallet = newWallet();
    const early = { to: wallet, block_timestamp: wholeSecond(new Date(), -3600), ...confirmed };
    const transfer = await elsewhere.observe(early);
    expect(await untilRecorded(payments, transfer)).toMatchObject({ related_payment_id: null, reason: null });
    const one = await newPayment(payments, { wallet }, merchantId);
    expect((await accept(payments, one, transfer)).json).toMatchObject({ unmatched_reason: null });
    expect(await one.details()).toMatchObject({ status: 'PAID' });
  });

  test('that was about to pay this closed payment anyway sends one PaymentPaid', async () => {
    const one = await newPayment(payments);
    await one.age(5);
    await one.cancel();
    const transfer = await one.observe({ block_timestamp: wholeSecond(new Date(), -60) });
    expect(await untilRecorded(payments, transfer)).toMatchObject({
      related_payment_id: one.payment.payment_id,
      reason: null,
    });
    expect((await accept(payments, one, transfer)).status).toBe(200);
    await observeAgain(payments, transfer, confirmed);
    expect(await countPaidMessages(payments, one)).toBe(1);
    expect(await incidents(payments, one)).toEqual([]);
  });

  test('can be previewed: the two amounts and the reason', async () => {
    const { one, transfer } = await underpaid(payments);
    const path = `/payments/${one.payment.payment_id}/transfers/${transfer.transaction_id}`;
    const answer = await payments.call('GET', `${path}/3`);
    expect(answer.json).toEqual({
      payment_id: one.payment.payment_id,
      merchant_id: one.merchantId,
      status: 'PENDING',
      expected_amount: '10',
      network: 'local',
      transaction_id: transfer.transaction_id,
      transaction_event_index: 3,
      amount: '9.5',
      unmatched_reason: 'underpaid',
      recipient: one.payment.merchant_wallet,
      block_timestamp: transfer.block_timestamp,
      phase: 'seen',
      pays: null,
      candidates: [one.payment.payment_id],
    });
    expect((await payments.call('GET', `${path}/4`)).status).toBe(404);
    expect((await payments.call('GET', `${path}/-1`)).status).toBe(422);
  });
});

describe('accepting again', () => {
  test('answers the same to the byte, for any operator, and without the chain', async () => {
    const { one, transfer } = await underpaid(payments);
    const first = await accept(payments, one, transfer);
    payments.stubs.findings.set(transfer.transaction_id, { finding: 'absent', reason: 'no_receipt' });
    await observeAgain(payments, transfer, { ...confirmed, confirmations: 40 });
    const second = await accept(payments, one, transfer, { actor: 'otto', reason: 'to be sure' });
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(await acceptances(payments, 'payment_id', one.payment.payment_id)).toHaveLength(1);
    expect(await countPaidMessages(payments, one)).toBe(1);
  });

  test('for another payment is 409', async () => {
    const { one, transfer } = await underpaid(payments);
    const other = await newPayment(payments, { amount: '11', wallet: one.payment.merchant_wallet }, one.merchantId);
    await accept(payments, one, transfer);
    const answer = await accept(payments, other, transfer);
    expect([answer.status, answer.json.detail]).toEqual([
      409,
      `This transfer pays another payment, ${one.payment.payment_id}`,
    ]);
    expect(await other.details()).toMatchObject({ status: 'PENDING' });
  });

  test('many times at the same moment, is one acceptance', async () => {
    const { one, transfer } = await underpaid(payments);
    const answers = await Promise.all(Array.from({ length: 8 }, () => accept(payments, one, transfer)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(200);
    expect(await acceptances(payments, 'payment_id', one.payment.payment_id)).toHaveLength(1);
    expect(await countPaidMessages(payments, one)).toBe(1);
  });

  test.each([[/from transfer\b/], [/from transfer_acceptance/]])(
    'that is committed while the second one reads %s is one acceptance',
    async (statement) => {
      const { one, transfer } = await underpaid(payments);
      let first: Answer<Acceptance> | null = null;
      const db = {
        query: async (text: string, values: unknown[]) => {
          const read = await payments.db.query(text, values);
          if (statement.test(text)) first ??= await accept(payments, one, transfer);
          return read;
        },
      };
      const notReached = () => Promise.reject(new Error('it must be found without the chain and a transaction'));
      const parts = { db, transact: notReached, verifier: { call: notReached } };
      const { transaction_id, transaction_event_index } = transfer;
      const event = { transaction_id, transaction_event_index, confirm_candidates: 2 };
      const second = await acceptTransfer(parts as unknown as AcceptanceContext, {
        paymentId: one.payment.payment_id,
        event,
        author,
      });
      expect(first).toMatchObject({ status: 200, json: { accepted_at: second.accepted_at.toISOString() } });
    },
  );
});

describe('racing acceptances have one winner', () => {
  const statusesOf = (answers: Answer<Acceptance>[]) => answers.map(({ status }) => status).sort();

  test('one transfer for several payments', async () => {
    const { one, transfer } = await underpaid(payments);
    const order = { wallet: one.payment.merchant_wallet };
    const others = await Promise.all(
      ['10.1', '10.2', '10.3'].map((amount) => newPayment(payments, { ...order, amount }, one.merchantId)),
    );
    const all = [one, ...others];
    const answers = await Promise.all(all.map((payment) => accept(payments, payment, transfer)));
    expect(statusesOf(answers)).toEqual([200, 409, 409, 409]);
    const statuses = await Promise.all(all.map(async (payment) => (await payment.details()).status));
    expect(statuses.toSorted()).toEqual(['PAID', 'PENDING', 'PENDING', 'PENDING']);
    const announced = await Promise.all(all.map((each) => countPaidMessages(payments, each)));
    expect(announced.reduce((sum, count) => sum + count)).toBe(1);
    expect(await acceptances(payments, 'transaction_id', transfer.transaction_id)).toHaveLength(1);
  });

  test('several transfers for one payment', async () => {
    const { one, transfer } = await underpaid(payments);
    const others = await Promise.all(
      ['9100000', '9200000', '9300000'].map((amount_units) => one.observe({ amount_units })),
    );
    await Promise.all(others.map((transfer) => untilRecorded(payments, transfer)));
    const answers = await Promise.all([transfer, ...others].map((each) => accept(payments, one, each)));
    expect(statusesOf(answers)).toEqual([200, 409, 409, 409]);
    expect((await one.details()).unmatched_transfers).toHaveLength(3);
    expect(await countPaidMessages(payments, one)).toBe(1);
  });

  test('an acceptance and a transfer of the exact amount', async () => {
    const runs = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const { one, transfer } = await underpaid(payments);
        const [answer, exact] = await Promise.all([accept(payments, one, transfer), one.observe(confirmed)]);
        await untilRecorded(payments, exact);
        return { one, accepted: answer.status === 200, exact };
      }),
    );
    for (const { one, accepted, exact } of runs) {
      const details = await untilDetails(one, { status: 'PAID', unmatched_transfers: [expect.anything()] });
      expect(details.transaction!.transaction_id === exact.transaction_id).toBe(!accepted);
      expect(await countPaidMessages(payments, one)).toBe(1);
      expect(await incidents(payments, one)).toEqual([]);
    }
  });
});

describe('a message about a transfer after it was accepted', () => {
  test('opens no incident as long as the chain has what was accepted, in whichever block', async () => {
    const { one, transfer } = await underpaid(payments);
    await accept(payments, one, transfer);
    const block = { block_hash: `0x${randomBytes(32).toString('hex')}`, block_number: 1300 };
    for (const [version, change] of [
      confirmed,
      { ...confirmed, confirmations: 30 },
      { ...confirmed, ...block },
    ].entries())
      await observeAgain(payments, transfer, { ...change, version: version + 2 });
    expect(await incidents(payments, one)).toEqual([]);
    expect(await one.details()).toMatchObject({ status: 'PAID', transaction: { block_number: 1300 } });
    expect(await countPaidMessages(payments, one)).toBe(1);
  });

  test('opens an incident when the chain loses it, and undoes nothing', async () => {
    const { one, transfer } = await underpaid(payments);
    await accept(payments, one, transfer);
    await observeAgain(payments, transfer, { phase: 'retracted', version: 2 });
    expect(await incidents(payments, one)).toMatchObject([
      { kind: 'paid_transfer_gone', transaction_id: transfer.transaction_id, resolved_at: null },
    ]);
    expect(await one.details()).toMatchObject({ status: 'PAID' });
    // It comes back unchanged: there is nothing more to judge.
    await observeAgain(payments, transfer, { ...confirmed, version: 3 });
    expect(await incidents(payments, one)).toHaveLength(1);
  });

  test.each([
    ['less', '9400000'],
    ['exactly what the payment asked for', '10000000'],
  ])('opens an incident when it comes back with another amount than the accepted one: %s', async (_, amount_units) => {
    const { one, transfer } = await underpaid(payments);
    await accept(payments, one, transfer);
    await observeAgain(payments, transfer, { ...confirmed, amount_units });
    expect(await incidents(payments, one)).toHaveLength(1);
  });

  test('from the review before an expiry changes neither the acceptance nor the payment that expires', async () => {
    const one = await newPayment(payments, { amount: '10' });
    await one.age(10);
    const transfer = await one.observe({ amount_units: '9500000', block_timestamp: wholeSecond(new Date(), -300) });
    await untilRecorded(payments, transfer);
    await accept(payments, one, transfer);
    // A newer payment of the accepted amount, so soon after the block that its review includes this very transfer.
    const newer = await newPayment(payments, { amount: '9.5', wallet: one.payment.merchant_wallet }, one.merchantId);
    payments.stubs.chain.transfers.push({ ...transfer, ...confirmed, version: 5 });
    await payments.db.query(
      `update payment set created_at = $2::timestamptz, expires_at = $2::timestamptz + interval '1 second',
                          expiry_check_at = $2::timestamptz where payment_id = $1`,
      [newer.payment.payment_id, new Date(Date.parse(transfer.block_timestamp) + 10_000)],
    );
    payments.stubs.chain.scannedThrough = new Date();
    await untilDetails(newer, { status: 'EXPIRED' });
    expect(await untilRecorded(payments, { ...transfer, version: 5 })).toMatchObject({
      payment_id: one.payment.payment_id,
    });
    expect(await one.details()).toMatchObject({ status: 'PAID' });
    expect(await incidents(payments, one)).toEqual([]);
    expect(await countPaidMessages(payments, one)).toBe(1);
    expect(await countPaidMessages(payments, newer)).toBe(0);
  });
});
