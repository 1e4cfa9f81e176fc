import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { PaymentWarning } from '@quittance/contracts/api/payment.ts';

/** A warning without a row here does not compile. */
const texts: Record<PaymentWarning, string> = {
  wallet_blacklisted: "The token's issuer has frozen this wallet. Money that arrives there cannot be moved.",
  network_unreadable: 'This network cannot be read just now. Money that arrives is noticed when it can be read again.',
};

export const warningsPart = (warnings: readonly PaymentWarning[]): Html[] =>
  warnings.map((warning) => html`<p class="problem" role="alert">${texts[warning]}</p>`);
