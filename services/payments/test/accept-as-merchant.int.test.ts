import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { formatUnits } from '@quittance/contracts/amount.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { newId } from '@quittance/contracts/ids.ts';
import {
  accept,
  acceptances,
  acceptAs as askAs,
  author,
  confirmed,
  countPaidMessages,
  expire,
  findingOf,
  messagesAbout,
  underpaid,
  untilRecorded,
} from './acceptance-fixtures.ts';
import { newMerchant, newPayment, type TestPayment } from './fixtures.ts';
import { type CallInit, type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

const acceptAs = (
  merchantId: string,
  one: Pick<TestPayment, 'payment'>,
  transfer: Pick<TransferObserved, 'transaction_id' | 'transaction_event_index'>,
  init: CallInit = {},
) => askAs(payments, merchantId, { one, transfer }, init);

/** A payment of 10 and a confirmed transfer to its wallet. */
async function nearMiss(units: string, change: Partial<TransferObserved> = {}) {
  const one = await newPayment(payments, { amount: '10' });
  const transfer = await one.observe({ amount_units: units, ...confirmed, ...change });
  await untilRecorded(payments, transfer);
  return { one, transfer };
}

const refused = (sentence: RegExp) => ({
  status: 409,
  json: { detail: expect.stringMatching(sentence) as unknown as string },
});

async function nothingChanged(one: TestPayment): Promise<void> {
  expect(await acceptances(payments, 'payment_id', one.payment.payment_id)).toEqual([]);
  expect(await countPaidMessages(payments, one)).toBe(0);
}

describe('a merchant accepts an unmatched transfer', () => {
  test.each<[string, string, string]>([
    ['a little less than requested', '9000000', 'underpaid'],
    ['more than requested', '12500000', 'overpaid'],
  ])('of %s: the payment is PAID and one message has the requested amount', async (_, units, reason) => {
    const { one, transfer } = await nearMiss(units);
    const answer = await acceptAs(one.merchantId, one, transfer);
    expect(answer).toMatchObject({
      status: 200,
      json: {
        ...{ payment_id: one.payment.payment_id, status: 'PAID', amount: '10' },
        transaction: { transaction_id: transfer.transaction_id, waiting_for: null },
      },
    });
    expect(answer.json).not.toHaveProperty('unmatched_transfers');
    expect(await acceptAs(one.merchantId, one, transfer)).toMatchObject({ status: 200, text: answer.text });
    expect(await countPaidMessages(payments, one)).toBe(1);
    expect(messagesAbout(payments, one).paid).toMatchObject([
      { expected_amount: '10', accepted: true, transfer: { reason, amount: formatUnits(BigInt(units), 6) } },
    ]);
    expect(await acceptances(payments, 'payment_id', one.payment.payment_id)).toMatchObject([
      { merchant_id: one.merchantId, unmatched_reason: reason, actor: 'merchant', status_before: 'PENDING' },
    ]);
  });

  test('that came too late for an expired payment', async () => {
    const one = await newPayment(payments, { amount: '10' });
    await expire(payments, one);
    const late = { block_timestamp: new Date(Math.floor(Date.now() / 1000) * 1000).toISOString() };
    const transfer = await one.observe({ ...confirmed, ...late });
    await untilRecorded(payments, transfer);
    expect(await acceptAs(one.merchantId, one, transfer)).toMatchObject({ status: 200, json: { status: 'PAID' } });
  });

  test('twenty times at once: one acceptance, one message, and the same answer for all', async () => {
    const { one, transfer } = await nearMiss('9500000');
    const answers = await Promise.all(Array.from({ length: 20 }, () => acceptAs(one.merchantId, one, transfer)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 200 });
    expect(await countPaidMessages(payments, one)).toBe(1);
    expect(await acceptances(payments, 'payment_id', one.payment.payment_id)).toHaveLength(1);
  });

  test('that an operator has accepted for the same payment', async () => {
    const { one, transfer } = await nearMiss('9500000');
    await accept(payments, one, transfer, author);
    expect(await acceptAs(one.merchantId, one, transfer)).toMatchObject({ status: 200, json: { status: 'PAID' } });
    expect(await acceptances(payments, 'payment_id', one.payment.payment_id)).toMatchObject([{ actor: 'olga' }]);
  });
});

describe('a merchant may not accept', () => {
  test('less than nine tenths of the amount, which an operator may', async () => {
    const { one, transfer } = await nearMiss('8999999');
    expect(await acceptAs(one.merchantId, one, transfer)).toMatchObject(refused(/8.999999 USDT, less than 90 %/));
    await nothingChanged(one);
    expect(await accept(payments, one, transfer, author)).toMatchObject({ status: 200 });
  });

  test('a transfer that is not confirmed yet; no node is asked about it', async () => {
    const { one, transfer } = await underpaid(payments);
    const asked = payments.stubs.verified.length;
    expect(await acceptAs(one.merchantId, one, transfer)).toMatchObject(refused(/not final yet/));
    expect(payments.stubs.verified).toHaveLength(asked);
    await nothingChanged(one);
  });

  test.each<[string, object, RegExp]>([
    ['that the chain does not call final', { is_final: false }, /not final yet/],
    ['that the chain has with another amount', { amount_units: '10000' }, /amount_units 10000 instead of/],
    ['that is gone from the chain', { finding: 'absent', reason: 'orphaned' }, /not in the chain any more/],
  ])('a transfer %s', async (_, change, sentence) => {
    const { one, transfer } = await nearMiss('9500000');
    payments.stubs.findings.set(transfer.transaction_id, findingOf(transfer, change));
    expect(await acceptAs(one.merchantId, one, transfer)).toMatchObject(refused(sentence));
    await nothingChanged(one);
  });

  test('a transfer that neither the ledger nor the chain has', async () => {
    const one = await newPayment(payments);
    const unknown = { transaction_id: 'ab'.repeat(32), transaction_event_index: 0 };
    payments.stubs.findings.set(unknown.transaction_id, { finding: 'absent', reason: 'no_receipt' });
    expect(await acceptAs(one.merchantId, one, unknown)).toMatchObject(refused(/does not have this transaction/));
  });

  test('a transfer that pays another payment, of which it learns nothing', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const other = await newPayment(payments, { amount: '10.5', wallet: one.payment.merchant_wallet }, one.merchantId);
    const transfer = await other.observe(confirmed);
    await untilRecorded(payments, transfer);
    const answer = await acceptAs(one.merchantId, one, transfer);
    expect(answer).toMatchObject(refused(/^This transfer pays another payment$/));
    await nothingChanged(one);
  });

  test('any transfer for a payment that is PAID by another one', async () => {
    const { one, transfer } = await nearMiss('9500000');
    await untilRecorded(payments, await one.observe(confirmed));
    expect(await acceptAs(one.merchantId, one, transfer)).toMatchObject(refused(/is PAID already/));
  });

  test('for another merchant’s payment, which is as unknown as one that does not exist', async () => {
    const { one, transfer } = await nearMiss('9500000');
    const stranger = await newMerchant(payments);
    const foreign = await acceptAs(stranger, one, transfer);
    const missing = await acceptAs(
      stranger,
      { ...one, payment: { ...one.payment, payment_id: newId('pay') } },
      transfer,
    );
    expect([foreign.status, missing.status, foreign.text]).toEqual([404, 404, missing.text]);
    await nothingChanged(one);
  });

  test('while no node answers: 503, and later it can', async () => {
    const { one, transfer } = await nearMiss('9500000');
    payments.stubs.down.add('chain-watcher');
    try {
      expect(await acceptAs(one.merchantId, one, transfer, { once: true })).toMatchObject({ status: 503 });
    } finally {
      payments.stubs.down.delete('chain-watcher');
    }
    await nothingChanged(one);
    expect(await acceptAs(one.merchantId, one, transfer)).toMatchObject({ status: 200 });
  });
});
