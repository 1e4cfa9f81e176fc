import type { CheckoutPayment } from '@quittance/contracts/payment.ts';

/** What the page shows. It follows from the payment's status, and for PENDING from the time. */
export type CheckoutState = 'waiting' | 'over' | 'seen' | 'paid' | 'expired' | 'cancelled';

/**
 * A payment that is PENDING after its end is not decided yet: the chain is still read up to that time. The page no longer asks for a
 * transfer. The time is the database's, which also decides the payment.
 */
export function checkoutState({ payment, server_time: now }: CheckoutPayment): CheckoutState {
  switch (payment.status) {
    case 'PENDING':
      return now < payment.expires_at ? 'waiting' : 'over';
    case 'CHECKING':
      return 'seen';
    case 'PAID':
      return 'paid';
    case 'EXPIRED':
      return 'expired';
    case 'CANCELLED':
      return 'cancelled';
  }
}

/** Whether the state may still change by itself, so that the page is live. */
export const isOpen = (state: CheckoutState): boolean => state === 'waiting' || state === 'over' || state === 'seen';
