import type { CheckoutPayment } from '@quittance/contracts/payment-views.ts';

/** What a customer is told. It follows from the payment's status, and for PENDING from the time. */
export type CheckoutState = 'waiting' | 'over' | 'seen' | 'paid' | 'expired' | 'cancelled';

/**
 * A payment that is PENDING after its end has not been given its verdict yet: the chain is still read up to that moment. Nobody is
 * invited to pay it any more. The time is the database's, which also decides over the payment.
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

/** Whether the state may still change by itself, so that the page is kept current. */
export const isOpen = (state: CheckoutState): boolean => state === 'waiting' || state === 'over' || state === 'seen';
