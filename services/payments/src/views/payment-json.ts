import { formatUnits } from '@quittance/contracts/amount.ts';
import { referenceOf } from '@quittance/contracts/payment-reference.ts';
import type { Payment, PaymentStatus, PaymentTransaction, PublicPayment } from '@quittance/contracts/payment.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { PaidTransfer, ViewedPayment, ViewedTransfer } from '../queries/payment-views.ts';
import type { WithProgress } from './confirmations.ts';

type PayingTransfer = Omit<ViewedTransfer, 'observed_at'> & PaidTransfer & WithProgress;

/**
 * A payment as merchants get it.
 * @param transfer the one that pays it, or null.
 * @param publicBaseUrl where customers reach the checkout, without a trailing slash.
 */
export function toPayment(payment: ViewedPayment, transfer: PayingTransfer | null, publicBaseUrl: string): Payment {
  // Read just after the payment, the transfer may already belong to its next status.
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
    order_id: payment.order_id,
    metadata: payment.metadata ?? {},
    return_url: payment.return_url,
    requested_amount: payment.requested_amount ?? payment.amount,
    reference: referenceOf(payment.payment_id),
  };
}

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

/** What the public token reveals, and nothing else: never a transaction, nor an id of payment or merchant. */
export function toPublicPayment(
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
