import type { Payment as PaymentJson, PaymentMetadata } from '@quittance/contracts/payment.ts';
import type { Payment } from '../../generated/client.ts';
import type { Queries, Transfer } from '../queries/payments.ts';
import type { PaidTransfer, ViewedPayment, WithTransfer } from '../queries/payment-views.ts';
import { type ProgressSources, withProgress } from './confirmations.ts';
import { toPayment } from './payment-json.ts';

type Listed = Omit<Payment, 'metadata'> & {
  metadata: unknown;
  transfer: Transfer | null;
  /** Of the transfer, by hand. */
  acceptance: object | null;
};

type ListedRow = ViewedPayment & WithTransfer<PaidTransfer>;

/** Payments as typed reads return them, as merchants get them: how far their transfers have come is as fresh as in the details. */
export async function toListedPayments(
  { queries, ...progress }: ProgressSources & { queries: Queries },
  payments: readonly Listed[],
  publicBaseUrl: string,
): Promise<PaymentJson[]> {
  const isAnyChecking = payments.some(({ status }) => status === 'CHECKING');
  // The ages of messages count, and only the database's clock tells them.
  const readAt = isAnyChecking ? await queries.databaseTime() : new Date();
  const rows = await withProgress(
    payments.map((payment) => toRow(payment, readAt)),
    progress,
  );
  return rows.map((row) => toPayment(row, row.transaction_id === null ? null : row, publicBaseUrl));
}

/** Of the transfer's columns those that a view has; others share their names with the payment's. */
function toRow({ transfer, acceptance, ...columns }: Listed, readAt: Date): ListedRow {
  // Validated before it was stored.
  const payment = { ...columns, metadata: columns.metadata as PaymentMetadata | null };
  if (transfer === null) return { ...payment, read_at: readAt, transaction_id: null };
  return {
    ...payment,
    read_at: readAt,
    transaction_id: transfer.transaction_id,
    transaction_event_index: transfer.transaction_event_index,
    block_number: transfer.block_number,
    confirmations: transfer.confirmations,
    confirmations_required: transfer.confirmations_required,
    observed_at: transfer.observed_at,
    transfer_units: transfer.amount_units.toFixed(),
    transfer_decimals: transfer.decimals,
    accepted: acceptance !== null,
  };
}
