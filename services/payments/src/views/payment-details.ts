import { formatUnits } from '@quittance/contracts/amount.ts';
import type {
  PaymentDetails,
  UnmatchedTransfer,
  CheckoutPayment,
  SeenConfirmations,
} from '@quittance/contracts/payment.ts';
import { referenceOf } from '@quittance/contracts/payment-reference.ts';
import type { OwnPayment } from '@quittance/contracts/http/payments/payments.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import {
  type DetailsRow,
  findByPublicTokens,
  findDetails,
  findUnmatched,
  type UnmatchedRow,
  type ViewedTransfer,
} from '../queries/payment-views.ts';
import { reasonShown } from '../settlement/payment-window.ts';
import { type ProgressSources, withProgress } from './confirmations.ts';
import { toPayment, toPublicPayment } from './payment-json.ts';
import type { ReadWarnings } from './warnings.ts';

type Sources = ProgressSources & { db: Queryable; readWarnings: ReadWarnings };

/** @returns those of the payments that exist and are that merchant's, in no particular order. */
export async function readDetails(
  { db, readWarnings, ...progress }: Sources,
  requested: readonly OwnPayment[],
  publicBaseUrl: string,
): Promise<{ merchant_id: string; payment: PaymentDetails }[]> {
  const rows = await findDetails(db, requested);
  const [current, unmatched, warnings] = await Promise.all([
    withProgress(rows, progress),
    findUnmatched(
      db,
      rows.map(({ payment_id: id }) => id),
    ),
    readWarnings(rows),
  ]);
  const transfersOf = Map.groupBy(unmatched, (transfer) => transfer.shown_with);
  return current.map((row, position) => ({
    merchant_id: row.merchant_id,
    payment: {
      ...toPayment(row, row.transaction_id === null ? null : row, publicBaseUrl),
      unmatched_transfers: (transfersOf.get(row.payment_id) ?? []).flatMap((transfer) => toUnmatched(row, transfer)),
      warnings: warnings[position] ?? [],
    },
  }));
}

/**
 * @param tokensSha256 SHA-256 of public tokens, in hex.
 * @returns those that exist, in no particular order.
 */
export async function readPublicPayments(
  { db, readWarnings: _, ...progress }: Sources,
  tokensSha256: readonly string[],
): Promise<({ token_sha256: string } & CheckoutPayment)[]> {
  const rows = await withProgress(await findByPublicTokens(db, tokensSha256), progress);
  return rows.map((row) => ({
    token_sha256: row.requested,
    payment: toPublicPayment(row),
    confirmations: row.status === 'CHECKING' && row.transaction_id !== null ? toSeen(row) : null,
    server_time: rfc3339(row.read_at),
    merchant_id: row.merchant_id,
    reference: referenceOf(row.payment_id),
    return_url: row.return_url,
  }));
}

const toSeen = (transfer: ViewedTransfer): SeenConfirmations => ({
  seen: Math.min(transfer.confirmations, transfer.confirmations_required),
  required: transfer.confirmations_required,
});

/** @returns nothing for a transfer that may still pay this payment. */
function toUnmatched(payment: DetailsRow, transfer: UnmatchedRow): UnmatchedTransfer[] {
  const reason = transfer.reason === 'paid_another' ? transfer.reason : reasonShown(payment, transfer);
  if (reason === null) return [];
  return [
    {
      transaction_id: transfer.transaction_id,
      transaction_event_index: transfer.transaction_event_index,
      amount: formatUnits(BigInt(transfer.amount_units), transfer.decimals),
      block_timestamp: rfc3339(transfer.block_timestamp),
      reason,
      candidate_count: transfer.candidate_count,
    },
  ];
}
