import type { PaymentDetails, PublicPayment } from './payment.ts';

/**
 * What the gateway asks payments about single payments: many in one call, `POST /internal/v1/payment-details` and
 * `POST /internal/v1/public-payments`. An answer names what each part of it is about, so that nobody is shown another's by its
 * place in a list; what is not found is left out.
 */

/** Most details in one call: with 100 unmatched transfers each, the answer has about a megabyte, which is half of what is taken. */
export const DETAILS_MAX = 50;
export const PUBLIC_PAYMENTS_MAX = 200;

/** A payment as its merchant names it. */
export type OwnPayment = { merchant_id: string; payment_id: string };

export type DetailsRequest = { payments: OwnPayment[] };
export type DetailsAnswer = { found: { merchant_id: string; payment: PaymentDetails }[] };

/**
 * What the checkout page is made from: what the public token reveals, and beside it what only the page shows. The public API answers
 * with `payment` alone.
 */
export type CheckoutPayment = {
  payment: PublicPayment;
  /** Of the transfer that the payment waits for; null unless the payment is CHECKING. */
  confirmations: SeenConfirmations | null;
  /** The clock that decides whether the payment is over, RFC 3339 in UTC with milliseconds. */
  server_time: string;
};

/**
 * How deep a transfer lies in the chain. `seen` grows with each block, as far as anybody can tell at the moment, and is from 0 to
 * `required`. Both are equal while the network or its operator asks for more than depth: such a payment is CHECKING all the same.
 */
export type SeenConfirmations = { seen: number; required: number };

/** SHA-256 of public tokens, in hex. */
export type PublicPaymentsRequest = { tokens_sha256: string[] };
export type PublicPaymentsAnswer = { found: ({ token_sha256: string } & CheckoutPayment)[] };
