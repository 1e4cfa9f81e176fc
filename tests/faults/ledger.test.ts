import { noOptions } from '@quittance/contracts/api/creation.ts';
import { describe, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { disagreements, type Arrived } from './system/ledger.ts';

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
    ...{ dedicated: false, derivation_index: null, received_amount: null },
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
