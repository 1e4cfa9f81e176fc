import { type KeptName, keptNames, type KeptValues, optionParts } from '@quittance/contracts/api/creation.ts';
import { formatUnits } from '@quittance/contracts/amount.ts';
import { referenceOf } from '@quittance/contracts/payment-reference.ts';
import type {
  Payment,
  PaymentStatus,
  PaymentTransaction,
  PublicPayment,
  PaymentDetails,
  ReceivedTransfer,
  UnmatchedTransfer,
} from '@quittance/contracts/api/payment.ts';
import type { CheckoutPayment, SeenConfirmations } from '@quittance/contracts/api/checkout.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import {
  type PaidTransfer,
  type ViewedPayment,
  type ViewedTransfer,
  type DetailsRow,
  findByPublicTokens,
  findDetails,
  findParts,
  findUnmatched,
  type PartRow,
  type UnmatchedRow,
} from './view.sql.ts';
import { type WithProgress, type ProgressSources, withProgress } from './progress.ts';
import type { OwnPayment } from '@quittance/contracts/http/payments/payments.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { reasonShown } from '../settlement/payment-window.ts';
import type { PaymentRow } from './payment.sql.ts';
import type { ReadWarnings } from './warnings.ts';

type PayingTransfer = Omit<ViewedTransfer, 'observed_at'> & PaidTransfer & WithProgress;

/**
 * A payment as merchants get it.
 * @param transfer the one that pays it, or null.
 * @param publicBaseUrl where customers reach the checkout, without a trailing slash.
 */
export function toPayment(payment: ViewedPayment, transfer: PayingTransfer | null, publicBaseUrl: string): Payment {
  // The transfer was read just after the payment, so it may already belong to the payment's next status.
  const isShown = payment.status === 'CHECKING' || payment.status === 'PAID';
  return {
    payment_id: payment.payment_id,
    payment_url: `${publicBaseUrl}/pay/${payment.public_token}`,
    status: payment.status as PaymentStatus,
    amount: payment.amount,
    currency: 'USDT',
    network: payment.network,
    merchant_wallet: payment.recipient,
    description: payment.description,
    created_at: rfc3339(payment.created_at),
    expires_at: rfc3339(payment.expires_at),
    paid_at: payment.paid_at && rfc3339(payment.paid_at),
    cancelled_at: payment.cancelled_at && rfc3339(payment.cancelled_at),
    transaction: isShown && transfer !== null ? toTransaction(transfer) : null,
    ...shownOptions(payment),
    requested_amount: payment.requested_amount ?? payment.amount,
    reference: referenceOf(payment.payment_id),
    dedicated: payment.rest_seconds !== null,
    derivation_index: payment.derivation_index,
    received_amount: payment.received_amount,
    rate: payment.rate,
  };
}

const shownOptions = (payment: KeptValues): Pick<Payment, KeptName> =>
  Object.fromEntries(keptNames.map((name) => [name, payment[name] ?? absentValues[name] ?? null])) as Pick<
    Payment,
    KeptName
  >;

const absentValues: Partial<Record<KeptName, unknown>> = optionParts(keptNames, 'absent');

const toTransaction = (transfer: PayingTransfer): PaymentTransaction => ({
  transaction_id: transfer.transaction_id,
  transaction_event_index: transfer.transaction_event_index,
  block_number: Number(transfer.block_number),
  block_timestamp: rfc3339(transfer.block_timestamp),
  amount: formatUnits(BigInt(transfer.transfer_units), transfer.transfer_decimals),
  accepted: transfer.accepted,
  confirmations: transfer.confirmations,
  confirmations_required: transfer.confirmations_required,
  waiting_for: transfer.waiting_for,
});

/** What the public token reveals, and nothing else: never a transaction, nor an id of a payment or merchant. */
function toPublicPayment(
  payment: Pick<ViewedPayment, 'status' | 'amount' | 'network' | 'recipient' | 'description' | 'expires_at'>,
): PublicPayment {
  return {
    status: payment.status as PaymentStatus,
    amount: payment.amount,
    currency: 'USDT',
    network: payment.network,
    merchant_wallet: payment.recipient,
    description: payment.description,
    expires_at: rfc3339(payment.expires_at),
  };
}

/** The most decimals of a network's token, and those of a payment's amount. */
const ARRIVED_DECIMALS = 18;
const AMOUNT_DECIMALS = 6;

type Sources = ProgressSources & { db: Queryable; readWarnings: ReadWarnings };

/** @returns those of the payments that exist and belong to that merchant, in no particular order. */
export async function readDetails(
  { db, readWarnings, ...progress }: Sources,
  requested: readonly OwnPayment[],
  publicBaseUrl: string,
): Promise<{ merchant_id: string; payment: PaymentDetails }[]> {
  const rows = await findDetails(db, requested);
  const dedicated = rows.filter(({ rest_seconds: rest }) => rest !== null);
  const [current, parts, unmatched, warnings] = await Promise.all([
    withProgress(rows, progress),
    findParts(
      db,
      dedicated.map(({ payment_id: id }) => id),
    ),
    findUnmatched(
      db,
      rows.map(({ payment_id: id }) => id),
    ),
    readWarnings(rows),
  ]);
  const unmatchedOf = Map.groupBy(unmatched, (transfer) => transfer.shown_with);
  const partsOf = Map.groupBy(parts, ({ payment_id: id }) => id);
  return current.map((row, position) => ({
    merchant_id: row.merchant_id,
    payment: {
      ...toPayment(row, row.transaction_id === null ? null : row, publicBaseUrl),
      unmatched_transfers: (unmatchedOf.get(row.payment_id) ?? []).flatMap((transfer) => toUnmatched(row, transfer)),
      transfers: (partsOf.get(row.payment_id) ?? []).map(toReceived),
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
    paid_at: row.paid_at && rfc3339(row.paid_at),
    price: row.price,
    rate: row.rate?.value ?? null,
    received: row.arrived_amount === null ? null : toArrived(row, row.arrived_amount),
  }));
}

/** @param arrived decimal text in USDT. */
function toArrived({ amount_units: asked }: Pick<PaymentRow, 'amount_units'>, arrived: string) {
  // A token may have more decimals than an amount.
  const [whole = '0', decimals = ''] = arrived.split('.');
  const units = BigInt(whole + decimals.padEnd(ARRIVED_DECIMALS, '0'));
  const missing = asked * 10n ** BigInt(ARRIVED_DECIMALS - AMOUNT_DECIMALS) - units;
  return { amount: arrived, missing: formatUnits(missing > 0n ? missing : 0n, ARRIVED_DECIMALS) };
}

const toSeen = (transfer: ViewedTransfer): SeenConfirmations => ({
  seen: Math.min(transfer.confirmations, transfer.confirmations_required),
  required: transfer.confirmations_required,
});

const toReceived = (part: PartRow): ReceivedTransfer => ({
  transaction_id: part.transaction_id,
  transaction_event_index: part.transaction_event_index,
  amount: formatUnits(BigInt(part.amount_units), part.decimals),
  block_timestamp: rfc3339(part.block_timestamp),
  confirmed: part.confirmed,
  counts: part.counts,
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

/** Payments as merchants get them. @param rows just read from the database. */
export async function toPayments(
  rows: readonly DetailsRow[],
  progress: ProgressSources,
  publicBaseUrl: string,
): Promise<Payment[]> {
  const current = await withProgress(rows, progress);
  return current.map((row) => toPayment(row, row.transaction_id === null ? null : row, publicBaseUrl));
}
