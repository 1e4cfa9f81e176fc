import type { Payment } from '@quittance/contracts/payment.ts';
import type { DetailsRow } from '../queries/payment-views.ts';
import { type ProgressSources, withProgress } from './confirmations.ts';
import { toPayment } from './payment-json.ts';

/** Payments as merchants get them. @param rows just read from the database. */
export async function toPayments(
  rows: readonly DetailsRow[],
  progress: ProgressSources,
  publicBaseUrl: string,
): Promise<Payment[]> {
  const current = await withProgress(rows, progress);
  return current.map((row) => toPayment(row, row.transaction_id === null ? null : row, publicBaseUrl));
}
