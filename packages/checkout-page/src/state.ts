import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { html, type Html } from './html.ts';
import { hasOwnAddress, receivedMoney } from './own-address.ts';

/** How the payment stands, whatever money is at its address. It follows from the status, and for PENDING from the time and the address. */
type BaseState = 'waiting' | 'over' | 'frozen' | 'seen' | 'paid' | 'expired' | 'cancelled';

/** What the page shows: money that arrived comes first, and then how the payment stands. */
export type CheckoutState = BaseState | 'arrived';

const decided = { CHECKING: 'seen', PAID: 'paid', EXPIRED: 'expired', CANCELLED: 'cancelled' } as const;

export const checkoutState = (view: CheckoutPayment): CheckoutState =>
  arrivedMoney(view) === null ? baseState(view) : 'arrived';

/**
 * A payment that is PENDING after its end is not decided yet: the chain is still read up to that time. The page no longer asks for a
 * transfer. The time is the database's, which also decides the payment.
 */
export function baseState(view: CheckoutPayment): BaseState {
  const { payment, warnings = [] } = view;
  if (payment.status !== 'PENDING') return decided[payment.status];
  if (warnings.includes('wallet_blacklisted')) return 'frozen';
  if (!isInTime(view)) return 'over';
  // Payments may not have noticed yet that nothing is missing.
  return receivedMoney(view)?.missing === '0' ? 'seen' : 'waiting';
}

/**
 * Money that did not pay the payment: on a shared wallet what may be for it, at an address of its own what was there when it ended.
 * None where a transfer pays it.
 */
export function arrivedMoney(view: CheckoutPayment): { amount: string } | null {
  const { status } = view.payment;
  if (status === 'CHECKING' || status === 'PAID') return null;
  if (!hasOwnAddress(view)) return view.arrived ?? null;
  return status === 'PENDING' ? null : receivedMoney(view);
}

/**
 * What the page says besides the state, for the script to see that it has changed. Null where payments could not be asked: a page that
 * says nothing then must not replace one that warns. While a payment is CHECKING they are not asked, and nothing but more money at its
 * own address is news.
 */
export function newsOf(view: CheckoutPayment): string | null {
  const isChecking = hasOwnAddress(view) && view.payment.status === 'CHECKING';
  if (view.arrived === undefined && !isChecking) return null;
  return [...(view.warnings ?? []), (receivedMoney(view) ?? arrivedMoney(view))?.amount ?? ''].join(' ');
}

/** Whether a transfer of now would still pay the payment, as far as its time is concerned. */
export const isInTime = ({ payment, server_time: now }: CheckoutPayment): boolean => now < payment.expires_at;

/** Whether the state may still change by itself, so that the page is live. */
export const isOpen = ({ payment: { status } }: CheckoutPayment): boolean =>
  status === 'PENDING' || status === 'CHECKING';

/** One per state, drawn on 24 × 24 in the colour of the text; the heading beside it says the same. */
export const icons: Record<CheckoutState, Html> = {
  waiting: icon('M12 7v5l3 2'),
  over: icon('M12 7v5l3 2'),
  arrived: icon('M12 7v6m0 3.5v.5'),
  frozen: icon('m6 6 12 12'),
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
