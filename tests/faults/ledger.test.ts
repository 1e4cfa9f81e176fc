import { noOptions } from '@quittance/contracts/api/creation.ts';
import { describe, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { disagreements, type Arrived } from './system/ledger.ts';
import { wrongParts, wrongPartsTold } from './system/parts.ts';

const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const transactionId = 'a'.repeat(64);
const paying: Arrived = {
  key: `${transactionId}-0`,
  wallet,
  units: 10_500_000n,
  at: Date.parse('2026-11-25T12:00:30Z'),
  minedAt: Date.parse('2026-11-25T12:00:31Z'),
  sentFor: 'pay_1',
};
const seenAt = (time: string) => ({ at: Date.parse(time), minedAt: Date.parse(time) });
const transaction: NonNullable<Payment['transaction']> = {
  ...{
    transaction_id: transactionId,
    transaction_event_index: 0,
    block_number: 7,
    block_timestamp: '2026-11-25T12:00:30.000Z',
  },
  ...{ amount: '10.5', accepted: false },
  ...{ confirmations: 4, confirmations_required: 4, waiting_for: null },
};

function payment(differences: Partial<Payment> = {}): Payment {
  return {
    ...{
      payment_id: 'pay_1',
      payment_url: 'http://127.0.0.1/pay/t',
      status: 'PAID',
      amount: '10.50',
      currency: 'USDT',
    },
    ...{ network: 'local', merchant_wallet: wallet, description: 'Tea', created_at: '2026-11-25T12:00:00.400Z' },
    ...{ expires_at: '2026-11-25T12:01:00.400Z', paid_at: '2026-11-25T12:00:40Z', cancelled_at: null, transaction },
    ...{ ...noOptions, metadata: {}, requested_amount: '10.50', reference: 'ABCDEFGH' },
    ...{ dedicated: false, derivation_index: null, received_amount: null, rate: null },
    ...differences,
  };
}

const unpaid = { status: 'EXPIRED', paid_at: null, transaction: null } as const;

/** With the same amount on the same wallet. */
const earlier = payment({
  ...unpaid,
  created_at: '2026-11-25T11:50:00.000Z',
  expires_at: '2026-11-25T11:59:00.000Z',
});

describe('the ledger of the random runs', () => {
  test.each([
    ['a payment that its transfer pays', [payment()], [paying]],
    ['an unpaid payment', [payment(unpaid)], []],
    ['a transfer after the end', [payment(unpaid)], [{ ...paying, ...seenAt('2026-11-25T12:01:01Z') }]],
    ['a transfer of another amount', [payment(unpaid)], [{ ...paying, units: 10_499_999n }]],
    [
      'a transfer in the first seconds of a payment that follows another one of the same amount',
      [earlier, payment({ ...unpaid, payment_id: 'pay_2' })],
      [{ ...paying, ...seenAt('2026-11-25T12:00:04Z') }],
    ],
    [
      'a late payer who cannot be distinguished from the next customer',
      [earlier, payment({ payment_id: 'pay_2' })],
      [paying],
    ],
    ['a chain with a wrong clock', [payment()], [{ ...paying, at: Date.parse('2026-11-25T11:59:40Z') }]],
    [
      'a transfer in the second of the cancellation',
      [payment({ ...unpaid, cancelled_at: '2026-11-25T12:00:30.9Z' })],
      [paying],
    ],
    [
      'an accepted transfer',
      [payment({ transaction: { ...transaction, amount: '10', accepted: true } })],
      [{ ...paying, units: 10_000_000n }],
    ],
  ])('agrees with %s', (_, payments, arrived) => {
    expect(disagreements(payments, arrived)).toEqual([]);
  });

  test.each([
    ['a transfer in time that paid nothing', [payment(unpaid)], [paying], /EXPIRED and was paid in time/],
    ['an unsettled payment', [payment({ ...unpaid, status: 'CHECKING' })], [], /still CHECKING/],
    ['PAID without a transfer', [payment({ transaction: null })], [], /PAID by nothing/],
    ['a transfer that the chain has lost', [payment()], [], /did not go to its wallet/],
    ['a transfer of another amount', [payment()], [{ ...paying, units: 10_499_999n }], /should be by nothing/],
    [
      'an amount that differs from the transfer',
      [payment({ transaction: { ...transaction, amount: '10.4' } })],
      [paying],
      /it carried 10.5/,
    ],
    [
      "another customer's transfer from before the payment",
      [earlier, payment({ payment_id: 'pay_2' })],
      [{ ...paying, ...seenAt('2026-11-25T11:59:50Z') }],
      /which the customer of pay_1 sent/,
    ],
    [
      'one transfer for two payments',
      [payment(), payment({ payment_id: 'pay_2' })],
      [paying],
      /pays both pay_1 and pay_2/,
    ],
  ])('tells of %s', (_, payments, arrived, told) => {
    expect(disagreements(payments, arrived).join('\n')).toMatch(told);
  });
});

describe('the ledger of the random runs, for payments with an address of their own', () => {
  const part = (position: number, amount: number, seconds: number): Arrived => ({
    ...{ key: `${transactionId}-${position}`, wallet, units: BigInt(amount * 1_000_000), sentFor: 'pay_1' },
    ...seenAt(new Date(Date.parse('2026-11-25T12:00:00Z') + seconds * 1_000).toISOString()),
  });
  const [first, second] = [part(1, 6, 10), part(0, 4.5, 20)];
  const lateOne = part(0, 4.5, 61);
  const own = (received: string, differences: Partial<Payment> = {}): Payment =>
    payment({
      ...{ dedicated: true, received_amount: received, transaction: { ...transaction, amount: '4.5' } },
      ...differences,
    });
  const accepted = { ...transaction, amount: '4.5', accepted: true };

  test.each([
    ['parts that add up', own('10.5'), [first, second]],
    ['more than the amount', own('16.5'), [first, second, part(2, 6, 30)]],
    ['a part that is not enough', own('6', unpaid), [first]],
    ['the rest after the end', own('10.5', unpaid), [first, lateOne]],
    ['the rest after the end, accepted', own('10.5', { transaction: accepted }), [first, lateOne]],
    ['a little less, where that is enough', own('10.5', { amount: '11.50', accept_from_percent: 90 }), [first, second]],
    ['a part in a block from before the payment, which was read late', own('4.5', unpaid), [part(1, 6, -40), second]],
  ])('agrees with %s', (_, one, arrived) => {
    expect(wrongParts([one], arrived)).toEqual([]);
  });

  test.each([
    ['enough in time that paid nothing', own('10.5', unpaid), [first, second], /10.5 of 10.50 came in time/],
    ['too little', own('10.4'), [part(1, 5.9, 10), second], /10.4 of 10.50 could count/],
    ['too little, accepted', own('9.4', { transaction: accepted }), [part(1, 4.9, 10), second], /9.4 of 10.50/],
    ['a sum that differs', own('10'), [first, second], /it has received 10, and 10.5 arrived/],
    ['PAID by the transfer that came too late', own('10.5'), [first, lateOne], /10.5 of 10.50 could count|in time/],
    ['a part at another address', own('6'), [first, { ...second, wallet: 'elsewhere' }], /did not go to its address/],
    ['an unsettled payment', own('6', { ...unpaid, status: 'CHECKING' }), [first], /still CHECKING/],
  ])('tells of %s', (_, one, arrived, told) => {
    expect(wrongParts([one], arrived).join('\n')).toMatch(told);
  });

  const partOf = (position: number, amount: string) => ({
    ...{ transaction_id: transactionId, transaction_event_index: position, amount },
  });
  const both = [partOf(1, '6'), partOf(0, '4.5')];
  const event = { transaction_id: transactionId, received_amount: '10.5', transfers: both };

  test('an event has the parts that have paid', () => {
    expect(wrongPartsTold([{ payment: own('10.5'), event }], [first, second])).toEqual([]);
  });

  test.each([
    ['a wrong sum', { ...event, received_amount: '10' }, /10 was received, in parts of 10.5/],
    ['a part that did not arrive', { ...event, transfers: [...both, partOf(7, '1')] }, /-7 with 1/],
    ['a part twice', { ...event, transfers: [...both, partOf(1, '6')] }, /counts for pay_1/],
    ['parts that are not enough', { ...event, received_amount: '6', transfers: [partOf(1, '6')] }, /only 6 of 10.50/],
  ])('an event must not have %s', (_, wrong, told) => {
    expect(wrongPartsTold([{ payment: own('10.5'), event: wrong }], [first, second]).join('\n')).toMatch(told);
  });
});
