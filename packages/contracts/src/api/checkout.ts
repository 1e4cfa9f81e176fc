import type { Price } from '../rates.ts';
import type { PaymentWarning, PublicPayment } from './payment.ts';

/**
 * The data of the checkout page: what the public token reveals, and what only the page shows. The public API answers
 * with `payment` alone.
 */
export type CheckoutPayment = {
  payment: PublicPayment;
  /** For the transfer that the payment waits for; null unless the payment is CHECKING. */
  confirmations: SeenConfirmations | null;
  /** The clock that decides whether the payment has expired, RFC 3339 in UTC with milliseconds. */
  server_time: string;
  /**
   * The gateway finds the name of the merchant by it; never shown. It and the reference are null from a payments
   * service of an older release.
   */
  merchant_id: string | null;
  reference: string | null;
  return_url: string | null;
  /** Shown only to a reader who knows the transaction. Absent from a payments service of an older release. */
  paid_at?: string | null;
  /** The price in another currency, and the rate that converted it. Null without one; absent in an older release. */
  price?: Price | null;
  rate?: string | null;
  /**
   * A transfer to this address that may be for this payment and didn't pay it, as decimal text in USDT: 50 to 200 % of
   * the amount. Set while the payment waits, and for 24 hours after it ended unpaid. Other payments may show the same
   * transfer. Absent if it was not requested.
   */
  arrived?: { amount: string } | null;
  /**
   * For a payment with an address of its own: the sum of the transfers that have arrived there, confirmed or not, and
   * what is missing to the full amount, "0" if nothing. Decimal text in USDT without trailing zeros. Null or absent on
   * a shared wallet.
   */
  received?: { amount: string; missing: string } | null;
  /** Absent from a payments service of an older release. */
  warnings?: PaymentWarning[];
  /** The answer to a customer who entered a transaction id; null or absent when none was entered. */
  lookup?: CheckoutLookup | null;
};

/**
 * How a customer's transaction relates to the payment. Everything except `pays_this_payment` is decided by the chain
 * and this payment alone, so that it reveals no other payment.
 */
export const checkoutLookupOutcomes = [
  /** It pays this payment, or is about to. */
  'pays_this_payment',
  /** A wrong amount was sent to the right address. */
  'other_amount',
  /** It was sent to another address. */
  'other_address',
  /** It was sent to this address on another network. */
  'other_network',
  /** Another token, or the network's own coin, was sent to this address. */
  'other_token',
  /** It failed on chain and moved nothing. */
  'failed',
  /** It is not in a block yet, or in a block that has not been read yet. */
  'pending',
  /** It arrived after the payment ended. */
  'too_late',
  /** It has the right amount and address but pays something else: it is older than this payment, or was sent twice. */
  'not_for_this_payment',
  /** It was not found on any enabled network. */
  'unknown',
  /** It could not be looked up now. A later try may succeed. */
  'not_read_yet',
  /** The text is not a transaction id: 64 hexadecimal characters, with or without 0x. */
  'no_transaction_id',
  /** More than six look-ups in a minute. */
  'asked_too_often',
] as const;

export type CheckoutLookupOutcome = (typeof checkoutLookupOutcomes)[number];

export type CheckoutLookup = {
  /** 64 lowercase hex characters, no 0x; for `no_transaction_id` the first 100 characters of the text. */
  transaction_id: string;
  outcome: CheckoutLookupOutcome;
  /** The amount received, decimal text in USDT: for `other_amount`, `too_late`, and `other_network` if it was USDT. */
  amount: string | null;
  /** The id of the network that the transaction is on: for `other_network`. */
  network: string | null;
};

/**
 * How deep a transfer is in the chain. `seen` grows with each known block, from 0 to `required`. When both are equal,
 * the payment may still be CHECKING, because the network or its operator requires more than depth.
 */
export type SeenConfirmations = { seen: number; required: number };
