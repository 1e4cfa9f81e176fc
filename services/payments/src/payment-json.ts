import type { Payment, PaymentStatus, PaymentTransaction, PublicPayment } from '@quittance/contracts/payment.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

/** What the JSON of a payment is made from; rows of the writing SQL and of the typed reads both fit. */
export type PaymentSource = {
  payment_id: string;
  public_token: string;
  /** One of PaymentStatus: the table's check allows nothing else. */
  status: string;
  network: string;
  recipient: string;
  amount: string;
  description: string;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  cancelled_at: Date | null;
};

export type TransferSource = {
  transaction_id: string;
  transaction_event_index: number;
  block_number: bigint;
  confirmations: number;
  confirmations_required: number;
};

/**
 * A payment as merchants get it. The order of the fields is part of the bytes that replays repeat.
 * @param publicBaseUrl where customers reach the checkout, without a trailing slash.
 * @param transfer the one that pays it, or null.
 */
export function toPayment(payment: PaymentSource, transfer: TransferSource | null, publicBaseUrl: string): Payment {
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
    paid_at: payment.paid_at === null ? null : rfc3339(payment.paid_at),
    cancelled_at: payment.cancelled_at === null ? null : rfc3339(payment.cancelled_at),
    // Read a moment after the payment, the transfer may already belong to its next status.
    transaction: transfer !== null && hasTransaction(payment.status) ? toTransaction(transfer) : null,
  };
}

/** What the public token reveals, and nothing else: before PAID no transaction, never an id of payment or merchant. */
export function toPublicPayment(payment: PaymentSource, transactionId: string | null): PublicPayment {
  return {
    status: payment.status as PaymentStatus,
    amount: payment.amount,
    currency: 'USDT',
    network: payment.network,
    merchant_wallet: payment.recipient,
    description: payment.description,
    expires_at: rfc3339(payment.expires_at),
    ...(payment.status === 'PAID' && transactionId !== null && { transaction_id: transactionId }),
  };
}

const hasTransaction = (status: string): boolean => status === 'CHECKING' || status === 'PAID';

const toTransaction = (transfer: TransferSource): PaymentTransaction => ({
  transaction_id: transfer.transaction_id,
  transaction_event_index: transfer.transaction_event_index,
  block_number: Number(transfer.block_number),
  confirmations: transfer.confirmations,
  confirmations_required: transfer.confirmations_required,
});
