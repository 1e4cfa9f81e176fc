import type { Payment, PaymentStatus, PublicPayment } from '@quittance/contracts/payment.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { ViewedPayment, ViewedTransfer } from '../queries/payment-views.ts';
import type { WithProgress } from './confirmations.ts';

/**
 * A payment as merchants get it. The order of the fields is part of the bytes that replays repeat.
 * @param transfer the one that pays it, or null.
 * @param publicBaseUrl where customers reach the checkout, without a trailing slash.
 */
export function toPayment(
  payment: ViewedPayment,
  transfer: (Omit<ViewedTransfer, 'observed_at'> & WithProgress) | null,
  publicBaseUrl: string,
): Payment {
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
    transaction:
      isShown && transfer !== null
        ? {
            transaction_id: transfer.transaction_id,
            transaction_event_index: transfer.transaction_event_index,
            block_number: Number(transfer.block_number),
            confirmations: transfer.confirmations,
            confirmations_required: transfer.confirmations_required,
            waiting_for: transfer.waiting_for,
          }
        : null,
  };
}

/** What the public token reveals, and nothing else: never a transaction, nor an id of payment or merchant. */
export function toPublicPayment(payment: ViewedPayment): PublicPayment {
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
