import { expect } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import type { Payment, PaymentDetails } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Answer, CallInit, PaymentsUnderTest } from './service.ts';
import { countSent, newPayment, type TestPayment } from './fixtures.ts';

export type Acceptance = { status_before: string; accepted_at: string; actor: string } & { detail: string };

export const author = { actor: 'olga', reason: 'the customer paid the fee from it' };
export const confirmed = { phase: 'confirmed', version: 2, confirmations: 2 } as const;

/** What chain-watcher finds for a transfer that the chain has as the ledger does. */
export const findingOf = (transfer: TransferObserved, change: object = {}) => ({
  finding: 'present',
  is_final: true,
  block_number: transfer.block_number,
  block_hash: transfer.block_hash,
  block_timestamp: transfer.block_timestamp,
  from: transfer.from,
  to: transfer.to,
  amount_units: transfer.amount_units,
  decimals: transfer.decimals,
  confirmations: 17,
  confirmations_required: 2,
  ...change,
});

/** Accepts a transfer that the chain has, unless the test sets another finding. */
export function accept(
  payments: PaymentsUnderTest,
  one: TestPayment,
  transfer: TransferObserved,
  by: object = author,
  init: CallInit = {},
): Promise<Answer<Acceptance>> {
  const { findings } = payments.stubs;
  if (!findings.has(transfer.transaction_id)) findings.set(transfer.transaction_id, findingOf(transfer));
  const { transaction_id, transaction_event_index } = transfer;
  const body = { transaction_id, transaction_event_index, ...by };
  return payments.call<Acceptance>('POST', `/payments/${one.payment.payment_id}/accept-transfer`, body, init);
}

/** Like accept(), on a merchant's decision. */
export function acceptAs(
  payments: PaymentsUnderTest,
  merchantId: string,
  {
    one,
    transfer,
    ...confirming
  }: {
    one: Pick<TestPayment, 'payment'>;
    transfer: Pick<TransferObserved, 'transaction_id' | 'transaction_event_index'>;
    confirm_candidates?: number;
  },
  init: CallInit = {},
): Promise<Answer<Payment>> {
  const { transaction_id, transaction_event_index } = transfer;
  const { findings } = payments.stubs;
  if (!findings.has(transaction_id)) findings.set(transaction_id, findingOf(transfer as TransferObserved));
  const path = `/merchants/${merchantId}/payments/${one.payment.payment_id}/accept-transfer`;
  return payments.call<Payment>('POST', path, { transaction_id, transaction_event_index, ...confirming }, init);
}

/** The ledger's row for a transfer of the test, once it has this version. */
type LedgerRow = {
  phase: string;
  payment_id: string | null;
  related_payment_id: string | null;
  candidates: string[] | null;
  reason: string | null;
  first_seen_at: Date;
  live: boolean;
};

/** Waits until the ledger has this version of a transfer. */
export const untilRecorded = (payments: PaymentsUnderTest, transfer: TransferObserved): Promise<LedgerRow> =>
  eventually(async () => {
    const { rows } = await payments.db.query<LedgerRow>(
      `select phase, payment_id, related_payment_id, candidates, reason, first_seen_at, live
         from transfer where transaction_id = $1 and version >= $2`,
      [transfer.transaction_id, transfer.version],
    );
    if (rows[0] === undefined) throw new Error('not taken yet');
    return rows[0];
  });

/** Publishes a newer version of a known transfer, and waits until it is stored. */
export async function observeAgain(
  payments: PaymentsUnderTest,
  transfer: TransferObserved,
  change: Partial<TransferObserved>,
): Promise<LedgerRow> {
  await payments.publish(TransferObserved, { ...transfer, ...change });
  return untilRecorded(payments, { ...transfer, ...change });
}

export const untilDetails = (one: TestPayment, expected: object): Promise<PaymentDetails> =>
  eventually(async () => {
    const details = await one.details();
    expect(details).toMatchObject(expected);
    return details;
  });

export const messagesAbout = (payments: PaymentsUnderTest, one: TestPayment) => ({
  paid: payments.received.paid.filter(({ payment_id: id }) => id === one.payment.payment_id),
  closed: payments.received.closed.filter(({ payment_id: id }) => id === one.payment.payment_id),
});

/** How often PaymentPaid was sent; all of them have been received. */
export async function countPaidMessages(payments: PaymentsUnderTest, one: TestPayment): Promise<number> {
  const { PaymentPaid: sent = 0 } = await countSent(payments, one);
  await eventually(() => expect(messagesAbout(payments, one).paid).toHaveLength(sent));
  return sent;
}

export const acceptances = async (
  payments: PaymentsUnderTest,
  column: 'payment_id' | 'transaction_id',
  value: string,
) =>
  (await payments.db.query<Record<string, unknown>>(`select * from transfer_acceptance where ${column} = $1`, [value]))
    .rows;

export const incidents = async (payments: PaymentsUnderTest, one: TestPayment) =>
  (await payments.call<{ incidents: object[] }>('GET', `/payments/${one.payment.payment_id}`)).json.incidents;

/** A payment of 10 and a transfer of 9.5 for it, which the ledger has as underpaid. */
export async function underpaid(payments: PaymentsUnderTest) {
  const one = await newPayment(payments, { amount: '10' });
  const transfer = await one.observe({ amount_units: '9500000' });
  expect(await untilRecorded(payments, transfer)).toMatchObject({ payment_id: null });
  return { one, transfer };
}

/** Makes a payment EXPIRED through the expiry loop. */
export async function expire(payments: PaymentsUnderTest, one: TestPayment): Promise<Payment> {
  await one.age(60);
  payments.stubs.chain.scannedThrough = new Date();
  return untilDetails(one, { status: 'EXPIRED' });
}
