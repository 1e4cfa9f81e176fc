import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import {
  accept,
  acceptances,
  acceptAs,
  confirmed,
  countPaidMessages,
  expire,
  incidents,
  messagesAbout,
  untilDetails,
  untilRecorded,
} from './acceptance-fixtures.ts';
import { newPayment, type TestPayment, transferFor, wholeSecond } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

/** An expired payment, and a transfer to it that only the chain has, in a block of now: its wallet is no longer watched. */
async function afterTheWatch(amountUnits = '10000000') {
  const one = await newPayment(payments, { amount: '10' });
  await expire(payments, one);
  payments.stubs.chain.scannedThrough = null;
  const transfer = transferFor(one.merchantId, one.payment, {
    ...{ amount_units: amountUnits, block_timestamp: wholeSecond(new Date(), 0) },
  });
  return { one, transfer };
}

const ledgerOf = async ({ transaction_id: id }: TransferObserved) =>
  (
    await payments.db.query<{ payment_id: string | null }>(
      'select payment_id from transfer where transaction_id = $1',
      [id],
    )
  ).rows;

describe('unpublished money, whose wallet is no longer watched, is accepted as the chain shows it', () => {
  test.each([
    ['10000000', '10', 'late'],
    ['9500000', '9.5', 'underpaid'],
  ])('by its merchant: %s', async (units, amount, reason) => {
    const { one, transfer } = await afterTheWatch(units);
    const answer = await acceptAs(payments, one.merchantId, { one, transfer });
    expect(answer).toMatchObject({
      status: 200,
      json: {
        status: 'PAID',
        transaction: { transaction_id: transfer.transaction_id, amount, accepted: true },
      },
    });
    expect(await acceptAs(payments, one.merchantId, { one, transfer })).toMatchObject({
      status: 200,
      text: answer.text,
    });
    expect(await countPaidMessages(payments, one)).toBe(1);
    expect(messagesAbout(payments, one).paid).toMatchObject([
      {
        expected_amount: '10',
        accepted: true,
        transfer: {
          ...{ amount, reason, network: 'local', merchant_wallet: one.payment.merchant_wallet },
          block_timestamp: transfer.block_timestamp,
        },
      },
    ]);
    expect(await ledgerOf(transfer)).toEqual([{ payment_id: one.payment.payment_id }]);
    expect(await acceptances(payments, 'payment_id', one.payment.payment_id)).toMatchObject([
      { actor: 'merchant', unmatched_reason: reason, status_before: 'EXPIRED' },
    ]);
  });

  test('by an operator, who can preview it', async () => {
    const { one, transfer } = await afterTheWatch('4000000');
    payments.stubs.findings.set(transfer.transaction_id, { finding: 'absent', reason: 'no_receipt' });
    const path = `/payments/${one.payment.payment_id}/transfers/${transfer.transaction_id}/3`;
    expect((await payments.call('GET', path)).status).toBe(404);
    payments.stubs.findings.delete(transfer.transaction_id);
    expect((await acceptAs(payments, one.merchantId, { one, transfer })).json.detail).toMatch(/less than 90 %/);
    expect((await payments.call('GET', path)).json).toMatchObject({
      amount: '4',
      recipient: one.payment.merchant_wallet,
    });
    expect(await accept(payments, one, transfer)).toMatchObject({
      status: 200,
      json: { unmatched_reason: 'underpaid' },
    });
  });

  test('many times at once: one acceptance', async () => {
    const { one, transfer } = await afterTheWatch();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => acceptAs(payments, one.merchantId, { one, transfer })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(200);
    expect(await countPaidMessages(payments, one)).toBe(1);
  });

  test('and later versions from chain-watcher change nothing', async () => {
    const { one, transfer } = await afterTheWatch();
    await acceptAs(payments, one.merchantId, { one, transfer });
    for (const version of [1, 2, 3]) await payments.publish(TransferObserved, { ...transfer, ...confirmed, version });
    await untilRecorded(payments, { ...transfer, version: 3 });
    expect(await incidents(payments, one)).toEqual([]);
    expect(await one.details()).toMatchObject({ status: 'PAID' });
    expect(await countPaidMessages(payments, one)).toBe(1);
  });

  test('but not for a payment of another amount when it has exactly the amount of another payment on the wallet', async () => {
    const { one, transfer } = await afterTheWatch('9500000');
    const other = await newPayment(payments, { amount: '9.5', wallet: one.payment.merchant_wallet }, one.merchantId);
    await expire(payments, other);
    payments.stubs.chain.scannedThrough = null;
    for (const answer of [
      await acceptAs(payments, one.merchantId, { one, transfer }),
      await accept(payments, one, transfer),
    ])
      expect(answer).toMatchObject({ status: 409, json: { code: 'transfer_not_acceptable' } });
    expect(await one.details()).toMatchObject({ status: 'EXPIRED', transaction: null });
  });
});

describe('money that is not published yet, and that a payment waits for,', () => {
  const waiting = async (): Promise<{ one: TestPayment; transfer: TransferObserved }> => {
    const one = await newPayment(payments, { amount: '10' });
    return { one, transfer: transferFor(one.merchantId, one.payment) };
  };

  test('pays when its merchant accepts it, on the merchant’s decision', async () => {
    const { one, transfer } = await waiting();
    expect(await acceptAs(payments, one.merchantId, { one, transfer })).toMatchObject({
      status: 200,
      json: { status: 'PAID', transaction: { accepted: true } },
    });
    expect(await countPaidMessages(payments, one)).toBe(1);
  });

  test('does not pay automatically after somebody tried to accept it for another payment', async () => {
    const { one, transfer } = await waiting();
    const other = await newPayment(payments, { amount: '20', wallet: one.payment.merchant_wallet }, one.merchantId);
    expect(await acceptAs(payments, one.merchantId, { one: other, transfer })).toMatchObject({ status: 409 });
    expect(await one.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: [] });
    expect(await countPaidMessages(payments, one)).toBe(0);
    // Not even when the transfer that the payment waited for is gone, and others replace it.
    const seen = transferFor(one.merchantId, one.payment, { phase: 'seen' });
    await payments.publish(TransferObserved, seen);
    await untilDetails(one, { status: 'CHECKING' });
    await payments.publish(TransferObserved, { ...seen, phase: 'retracted', version: 2 });
    await untilDetails(one, { status: 'PENDING' });
    expect(await countPaidMessages(payments, one)).toBe(0);
    // chain-watcher reports when it was first read: now the rules decide.
    await payments.publish(TransferObserved, { ...transfer, phase: 'confirmed', version: 1 });
    await untilDetails(one, { status: 'PAID', transaction: { accepted: false } });
  });
});
