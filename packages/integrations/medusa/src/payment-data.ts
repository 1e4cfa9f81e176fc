import type { PaymentSessionStatus } from '@medusajs/framework/types';
import type { Payment, PaymentDetails, PaymentStatus } from '@quittance/sdk';

/**
 * What Medusa stores with a session, and then with its payment. Customers read that of their session by the Store API, so it has nothing
 * that the checkout page does not show.
 */
export type PaymentData = {
  session_id: string;
  payment_id: string;
  /** Send the customer there. */
  checkout_url: string;
  status: PaymentStatus;
  /** In USDT, as decimal text. */
  amount: string;
  /** What arrived so far, in USDT; null on a shared wallet until it is paid. */
  received_amount: string | null;
  /** Set if it differs from the amount. */
  received: 'too little' | 'too much' | null;
  network: string;
  /** Eight characters to read out on the telephone. */
  reference: string;
  expires_at: string;
  /** Unmatched transfers that may be for this payment. A person decides about them in Quittance. */
  unmatched: { amount: string; reason: string; transaction_id: string }[];
};

/** What it means for Medusa. Only PAID is final, and then the money is already in the shop's wallet. */
export const sessionStatus: Record<PaymentStatus, PaymentSessionStatus> = {
  PENDING: 'pending',
  CHECKING: 'pending',
  PAID: 'captured',
  EXPIRED: 'canceled',
  CANCELLED: 'canceled',
};

export function paymentData(sessionId: string, payment: Payment | PaymentDetails): PaymentData {
  const { payment_id, payment_url, status, amount, network, reference, expires_at } = payment;
  const received = payment.received_amount ?? (payment.status === 'PAID' ? payment.transaction.amount : null);
  const unmatched = 'unmatched_transfers' in payment ? payment.unmatched_transfers : [];
  return {
    session_id: sessionId,
    payment_id,
    checkout_url: payment_url,
    status,
    amount,
    received_amount: received,
    received: compared(received, amount),
    network,
    reference,
    expires_at,
    unmatched: unmatched.map(({ amount: arrived, reason, transaction_id }) => ({
      amount: arrived,
      reason,
      transaction_id,
    })),
  };
}

/** Nothing has arrived too little: the customer has not begun. */
function compared(received: string | null, amount: string): PaymentData['received'] {
  const difference = units(received ?? '0') - units(amount);
  if (difference === 0n || received === null || units(received) === 0n) return null;
  return difference > 0n ? 'too much' : 'too little';
}

/** Decimal text in millionths. */
function units(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(6, '0').slice(0, 6));
}
