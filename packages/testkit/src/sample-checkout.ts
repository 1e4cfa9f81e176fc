import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';

/** The gateway's data of a payment: only what its public token reveals, and what `more` adds. */
export const checkoutOf = (payment: PublicPayment, more: Partial<CheckoutPayment> = {}): CheckoutPayment => ({
  payment,
  confirmations: null,
  server_time: '2026-01-31T08:30:00.000Z',
  merchant_id: null,
  reference: null,
  return_url: null,
  ...more,
});
