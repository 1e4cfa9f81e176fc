import type { Acceptance, AcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import type { AcceptanceRow } from '../acceptance/acceptance.sql.ts';
import type { Pair } from '../acceptance/accept.ts';
import type { Standing } from '../acceptance/acceptance-rules.ts';
import { formatUnits } from '@quittance/contracts/amount.ts';
import type { LedgerEntry, OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { findDetails } from '../payment/view.sql.ts';
import type { Payment, Queries, Transfer } from './payments.sql.ts';
import { reasonShown } from '../settlement/payment-window.ts';
import type { ProgressSources } from '../payment/progress.ts';
import { toPayments } from '../payment/view.ts';
import type { ReadWarnings } from '../payment/warnings.ts';

/** Everything about a payment of any merchant: its transfers, matched or not, and its incidents. */
export async function readOperatorPayment(
  {
    db,
    queries,
    readWarnings,
    ...progress
  }: ProgressSources & {
    db: Queryable;
    queries: Queries;
    readWarnings: ReadWarnings;
  },
  paymentId: string,
  publicBaseUrl: string,
): Promise<Omit<OperatorsPayment, 'acceptance'> | null> {
  const payment = await queries.find(paymentId);
  if (payment === null) return null;
  const unmatched = await queries.listUnmatched(payment);
  const [shown] = await toPayments(await findDetails(db, [payment]), progress, publicBaseUrl);
  if (shown === undefined) throw new Error('the view of a payment is missing');
  const paying = payment.transfer && {
    ...toLedgerEntry(payment.transfer),
    ...(shown.transaction !== null && { confirmations: shown.transaction.confirmations }),
  };
  return {
    ...shown,
    merchant_id: payment.merchant_id,
    warnings: (await readWarnings([payment]))[0] ?? [],
    transfers: [
      ...(paying === null ? [] : [paying]),
      ...unmatched.map((transfer) => ({ ...toLedgerEntry(transfer), reason: reasonFor(payment, transfer) })),
    ],
    incidents: payment.incidents.map(withTextTimes),
  };
}

/** The reason that the merchant reads in the details. */
const reasonFor = (payment: Payment, { amount_units: units, ...transfer }: Transfer): LedgerEntry['reason'] =>
  reasonShown(payment, {
    ...transfer,
    amount_units: units.toFixed(),
    reason: transfer.reason as LedgerEntry['reason'],
  });

/** The whole row in JSON's types, with the amount also as readable text. */
function toLedgerEntry(transfer: Transfer): LedgerEntry {
  const entry = {
    ...transfer,
    version: Number(transfer.version),
    block_number: Number(transfer.block_number),
    block_timestamp: rfc3339(transfer.block_timestamp),
    observed_at: rfc3339(transfer.observed_at),
    amount_units: transfer.amount_units.toFixed(),
    amount: formatUnits(BigInt(transfer.amount_units.toFixed()), transfer.decimals),
    reason: transfer.reason as LedgerEntry['reason'],
    first_seen_at: transfer.first_seen_at && rfc3339(transfer.first_seen_at),
    candidates: candidatesOf(transfer),
  };
  return entry;
}

const candidatesOf = ({ candidates, related_payment_id: only }: Transfer): string[] =>
  candidates.length > 0 ? candidates : only === null ? [] : [only];

/** An acceptance as the operator gets it. It never changes, so a repeated request gets the same bytes. */
export const toAcceptance = ({ amount_units, decimals, recipient: _, ...row }: AcceptanceRow): Acceptance => ({
  ...withTextTimes(row),
  status: 'PAID',
  amount: formatUnits(BigInt(amount_units), decimals),
  block_number: Number(row.block_number),
});

/** A transfer of the ledger and a payment it may be accepted for, for the operator to compare. */
export const toCandidate = ({ standing, ...pair }: Pair & { standing: Standing }): AcceptanceCandidate => ({
  payment_id: pair.payment.payment_id,
  merchant_id: pair.payment.merchant_id,
  status: pair.payment.status,
  expected_amount: pair.payment.amount,
  network: pair.transfer.network,
  transaction_id: pair.transfer.transaction_id,
  transaction_event_index: pair.transfer.transaction_event_index,
  amount: formatUnits(BigInt(pair.transfer.amount_units), pair.transfer.decimals),
  unmatched_reason: reasonShown(pair.payment, pair.transfer),
  recipient: pair.transfer.recipient,
  block_timestamp: rfc3339(pair.transfer.block_timestamp),
  phase: pair.transfer.phase,
  pays: pair.transfer.payment_id,
  candidates: standing.candidates.map(({ payment_id: id }) => id),
});
