import type { CheckoutPayment } from '@quittance/contracts/payment.ts';
import { html, type Html } from './html.ts';

/** What the page shows. It follows from the payment's status, and for PENDING from the time and from the money that came. */
export type CheckoutState = 'waiting' | 'over' | 'arrived' | 'seen' | 'paid' | 'expired' | 'cancelled';

const decided = { CHECKING: 'seen', PAID: 'paid', EXPIRED: 'expired', CANCELLED: 'cancelled' } as const;

/**
 * A payment that is PENDING after its end is not decided yet: the chain is still read up to that time. The page no longer asks for a
 * transfer, and neither does it once another amount has arrived. The time is the database's, which also decides the payment.
 */
export function checkoutState(view: CheckoutPayment): CheckoutState {
  const { payment, arrived } = view;
  if (payment.status !== 'PENDING') return decided[payment.status];
  if (arrived !== null && arrived !== undefined) return 'arrived';
  return isInTime(view) ? 'waiting' : 'over';
}

/** Whether a transfer of now would still pay the payment, as far as its time is concerned. */
export const isInTime = ({ payment, server_time: now }: CheckoutPayment): boolean => now < payment.expires_at;

/** Whether the state may still change by itself, so that the page is live. */
export const isOpen = (state: CheckoutState): boolean =>
  state === 'waiting' || state === 'over' || state === 'arrived' || state === 'seen';

/** One per state, drawn on 24 × 24 in the colour of the text; the heading beside it says the same. */
export const icons: Record<CheckoutState, Html> = {
  waiting: icon('M12 7v5l3 2'),
  over: icon('M12 7v5l3 2'),
  arrived: icon('M12 7v6m0 3.5v.5'),
  seen: icon('M12 7v10m-4-4 4 4 4-4'),
  paid: icon('m7.5 12.5 3 3 6-7'),
  expired: icon('M12 7v6m0 3.5v.5'),
  cancelled: icon('m8.5 8.5 7 7m0-7-7 7'),
};

function icon(path: string): Html {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <circle cx="12" cy="12" r="10" />
    <path d="${path}" />
  </svg>`;
}
