import { formatUnits } from '@quittance/contracts/amount.ts';
import type { LedgerEntry, OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { findDetails } from '../queries/payment-views.ts';
import type { Queries, Transfer } from '../queries/payments.ts';
import { reasonShown } from '../settlement/payment-window.ts';
import type { ProgressSources } from './confirmations.ts';
import { toPayments } from './listed-payments.ts';
import type { ReadWarnings } from './warnings.ts';

/** All there is of a payment, whichever merchant's it is: its transfers, matched or not, and its incidents. */
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
  if (shown === undefined) throw new Error('a payment is shown as nothing');
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

/** As the merchant reads it in the details. */
const reasonFor = (payment: Parameters<typeof reasonShown>[0], transfer: Transfer): LedgerEntry['reason'] =>
  reasonShown(payment, {
    ...transfer,
    amount_units: transfer.amount_units.toFixed(),
    reason: transfer.reason as LedgerEntry['reason'],
  });

/** The whole row in JSON's types, and the amount also for people. */
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
