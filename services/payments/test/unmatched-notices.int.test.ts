import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type NoticeRaised, TransferObserved } from '@quittance/contracts/messages.ts';
import type { WebhookChoice } from '@quittance/contracts/webhook.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { expire, untilRecorded } from './acceptance-fixtures.ts';
import { newMerchant, newPayment, newWallet, type TestPayment, transferFor, wholeSecond } from './fixtures.ts';
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

const noticesOf = (merchantId: string): NoticeRaised[] =>
  payments.received.notices.filter((notice) => notice.merchant_id === merchantId);
const untilNotices = (merchantId: string, count: number): Promise<NoticeRaised[]> =>
  eventually(() => {
    const notices = noticesOf(merchantId);
    expect(notices).toHaveLength(count);
    return notices;
  });
const choosing = async (...events: WebhookChoice[]): Promise<string> => {
  const merchantId = await newMerchant(payments);
  await payments.call('PUT', `/merchants/${merchantId}/webhook-choice`, { events, version: 2 });
  return merchantId;
};
describe('a confirmed transfer that pays nothing', () => {
  const transferTo = (one: TestPayment, units: number | bigint, over: Partial<TransferObserved> = {}) =>
    transferFor(one.merchantId, one.payment, {
      amount_units: String(units),
      phase: 'confirmed',
      confirmations: 2,
      transaction_id: randomBytes(32).toString('hex'),
      ...over,
    });
  const send = async (transfer: TransferObserved): Promise<TransferObserved> => {
    await payments.publish(TransferObserved, transfer);
    return transfer;
  };

  test('notifies with the one payment that it fits', async () => {
    const merchantId = await choosing('TRANSFER_UNMATCHED');
    const one = await newPayment(payments, { amount: '49.9037', description: 'Article' }, merchantId);
    const seen = await send(transferTo(one, 49_900_000, { phase: 'seen', confirmations: 1 }));
    await send({ ...seen, phase: 'confirmed', version: 2, confirmations: 2 });
    expect(await untilNotices(merchantId, 1)).toEqual([
      {
        merchant_id: merchantId,
        event_type: 'transfer.unmatched',
        payment_id: one.payment.payment_id,
        expected_amount: '49.9037',
        description: 'Article',
        transaction_id: seen.transaction_id,
        transaction_event_index: seen.transaction_event_index,
        transfer: {
          amount: '49.9',
          reason: 'underpaid',
          network: 'local',
          merchant_wallet: one.payment.merchant_wallet,
          block_timestamp: seen.block_timestamp,
        },
        candidates: [one.payment.payment_id],
      },
    ]);
  });

  test('notifies with the payments it may be for when there are several, the nearest first, and names none alone', async () => {
    const merchantId = await choosing('TRANSFER_UNMATCHED');
    const wallet = newWallet();
    const first = await newPayment(payments, { amount: '10', wallet }, merchantId);
    const second = await newPayment(payments, { amount: '11.5', wallet }, merchantId);
    await send(transferTo(first, 10_500_000));
    await send(transferTo(first, 30_000_000));
    const ids = [first, second].map(({ payment }) => payment.payment_id);
    const known = ({ payment_id, transfer, candidates }: NoticeRaised) => ({ payment_id, ...transfer, candidates });
    const notices = (await untilNotices(merchantId, 2)).map(known);
    expect(notices.toSorted((a, b) => (a.amount! < b.amount! ? -1 : 1))).toMatchObject([
      { payment_id: null, amount: '10.5', reason: 'overpaid', candidates: ids },
      // It fits neither; it may still be for every payment for which it is not dust.
      { payment_id: null, amount: '30', reason: 'overpaid', candidates: ids.toReversed() },
    ]);
  });

  test('with the amount of a payment that has ended, or is paid, notifies with that one', async () => {
    const merchantId = await choosing('TRANSFER_UNMATCHED');
    const late = await newPayment(payments, { amount: '20' }, merchantId);
    await expire(payments, late);
    await send(transferTo(late, 20_000_000, { block_timestamp: wholeSecond(new Date(), 0) }));
    const paid = await newPayment(payments, { amount: '21' }, merchantId);
    await send(transferTo(paid, 21_000_000));
    await eventually(async () => expect(await paid.details()).toMatchObject({ status: 'PAID' }));
    await send(transferTo(paid, 21_000_000));
    const known = ({ payment_id, transfer }: NoticeRaised) => [transfer?.reason, payment_id];
    expect((await untilNotices(merchantId, 2)).map(known)).toEqual([
      ['late', late.payment.payment_id],
      ['duplicate', paid.payment.payment_id],
    ]);
  });

  describe('is notified once', () => {
    /** The notices about a merchant's transfer, from now on until the next transfer is notified. */
    async function toldUntilNext(merchantId: string, one: TestPayment) {
      const last = await send(transferTo(one, 777_000));
      return eventually(() => {
        const told = noticesOf(merchantId);
        expect(told.map(({ transaction_id: id }) => id)).toContain(last.transaction_id);
        return told.filter(({ transaction_id: id }) => id !== last.transaction_id);
      });
    }

    test('through messages, a reorganisation, a review and a new decision', async () => {
      const merchantId = await choosing('TRANSFER_UNMATCHED');
      const one = await newPayment(payments, { amount: '50' }, merchantId);
      const { merchant_wallet: wallet } = one.payment;
      const first = await send(transferTo(one, 40_000_000));
      await send({ ...first, version: 2, confirmations: 5 });
      await send({ ...first, version: 3, phase: 'retracted' });
      await send({ ...first, version: 4, phase: 'seen', block_number: 1300 });
      await send({ ...first, version: 5, block_number: 1300, block_hash: `0x${'ab'.repeat(32)}` });
      await untilRecorded(payments, { ...first, version: 5 });
      // The question before an expiry shows it again; and now another payment of its amount is its reason.
      const exact = await newPayment(payments, { amount: '40', wallet }, merchantId);
      payments.stubs.chain.transfers = [{ ...first, version: 6, confirmations: 9 }];
      await expire(payments, exact);
      await send({ ...first, version: 7, confirmations: 20 });
      await untilRecorded(payments, { ...first, version: 7 });
      expect(await toldUntilNext(merchantId, one)).toMatchObject([{ transaction_id: first.transaction_id }]);
    });

    test('when it is first known by a review', async () => {
      const merchantId = await choosing('TRANSFER_UNMATCHED');
      const one = await newPayment(payments, { amount: '51' }, merchantId);
      const twice = [transferTo(one, 51_000_000), transferTo(one, 51_000_000)];
      payments.stubs.chain.transfers = twice;
      await one.age(30);
      payments.stubs.chain.transfers = twice.map((each) => ({
        ...each,
        block_timestamp: wholeSecond(new Date(), -600),
      }));
      payments.stubs.chain.scannedThrough = new Date();
      await eventually(async () => expect(await one.details()).toMatchObject({ status: 'PAID' }));
      for (const each of payments.stubs.chain.transfers) await send({ ...each, version: 2, confirmations: 9 });
      expect(await toldUntilNext(merchantId, one)).toMatchObject([{ transfer: { amount: '51', reason: 'duplicate' } }]);
    });

    test('as late when its payment expires, and not before', async () => {
      const merchantId = await choosing('TRANSFER_UNMATCHED', 'EXPIRED');
      const one = await newPayment(payments, { amount: '52' }, merchantId);
      await one.age(60);
      const late = await send(transferTo(one, 52_000_000, { block_timestamp: wholeSecond(new Date(), 0) }));
      await untilRecorded(payments, late);
      await send({ ...late, version: 2, confirmations: 9 });
      await untilRecorded(payments, { ...late, version: 2 });
      expect(noticesOf(merchantId)).toEqual([]);
      payments.stubs.chain.scannedThrough = new Date();
      expect(
        (await untilNotices(merchantId, 2)).toSorted((a, b) => (a.event_type < b.event_type ? -1 : 1)),
      ).toMatchObject([
        { event_type: 'payment.expired', payment_id: one.payment.payment_id, candidate_transfers: 1 },
        {
          event_type: 'transfer.unmatched',
          payment_id: one.payment.payment_id,
          candidates: [one.payment.payment_id],
          transfer: { reason: 'late', amount: '52' },
        },
      ]);
      await send({ ...late, version: 3, confirmations: 12 });
      await untilRecorded(payments, { ...late, version: 3 });
      await send(transferTo(one, 40_000_000));
      await untilNotices(merchantId, 3);
    });
  });

  test('is counted in the notice of the expiry, whatever it lacks, and only if it may be for that payment', async () => {
    const merchantId = await choosing('EXPIRED');
    const one = await newPayment(payments, { amount: '53' }, merchantId);
    const none = await newPayment(payments, { amount: '54' }, merchantId);
    const other = await newPayment(payments, { amount: '100', wallet: one.payment.merchant_wallet }, merchantId);
    // Too little, for one of two, dust, and a transfer that pays nothing because it is not confirmed.
    for (const [units, phase] of [
      [30_000_000, 'confirmed'],
      [60_000_000, 'confirmed'],
      [1, 'confirmed'],
      [31_000_000, 'seen'],
    ] as const) {
      const transfer = await send(
        transferTo(one, units, { phase, block_timestamp: wholeSecond(other.payment.created_at, 1) }),
      );
      await untilRecorded(payments, transfer);
    }
    for (const each of [one, none]) await expire(payments, each);
    const counted = (await untilNotices(merchantId, 2)).map(({ payment_id: id, candidate_transfers: count }) => [
      id,
      count,
    ]);
    expect(counted).toEqual([
      [one.payment.payment_id, 3],
      [none.payment.payment_id, undefined],
    ]);
  });

  test('is notified at most 60 times an hour for a wallet, and not when it is dust', async () => {
    const merchantId = await choosing('TRANSFER_UNMATCHED');
    const one = await newPayment(payments, { amount: '100' }, merchantId);
    await newPayment(payments, { amount: '200', wallet: one.payment.merchant_wallet }, merchantId);
    const dust = Array.from({ length: 5 }, () => transferTo(one, 999_999));
    const wrong = Array.from({ length: 70 }, () => transferTo(one, 1_000_000));
    await payments.publishAll(TransferObserved, [...dust, ...wrong]);
    const notices = await untilNotices(merchantId, 60);
    expect(new Set(notices.map(({ transfer }) => transfer?.amount))).toEqual(new Set(['1']));
    // Another wallet has its own window, and the first one a new window after an hour.
    const other = await newPayment(payments, { amount: '100' }, merchantId);
    await send(transferTo(other, 1_000_000));
    await untilNotices(merchantId, 61);
    await payments.db.query(`update unmatched_notice_window set started_at = started_at - interval '1 hour'`);
    await send(transferTo(one, 1_000_000));
    await untilNotices(merchantId, 62);
    const ledger = await payments.db.query('select from transfer where recipient = $1', [one.payment.merchant_wallet]);
    expect(ledger.rowCount).toBe(76);
  });
});
