import { html, type Html } from './html.ts';
import type { CheckoutState } from './state.ts';

/** One per state, drawn on 24 × 24 in the colour of the text; the heading beside it says the same. */
export const icons: Record<CheckoutState, Html> = {
  waiting: icon('M12 7v5l3 2'),
  over: icon('M12 7v5l3 2'),
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
