/** PENDING and CHECKING are unfinished; the other three are final, save that money which came in time still turns EXPIRED and CANCELLED into PAID. */
export const paymentStatuses = ['PENDING', 'CHECKING', 'PAID', 'EXPIRED', 'CANCELLED'] as const;

export type PaymentStatus = (typeof paymentStatuses)[number];

/** What a merchant reads of the transfer that pays a payment. */
export type PaymentTransaction = {
  /** 64 lowercase hex characters, no 0x. */
  transaction_id: string;
  /** Position of the event in the receipt's full log list, from 0. */
  transaction_event_index: number;
  block_number: number;
  /** When the chain says that its block was made. */
  block_timestamp: string;
  /** What the transfer carries, decimal text in USDT: another amount than the payment's only where the transfer was accepted. */
  amount: string;
  /** Whether it pays by an operator's or the merchant's word and not by its amount and time. */
  accepted: boolean;
  /** As far as is known now. */
  confirmations: number;
  confirmations_required: number;
  /** What is missing until the payment is PAID; null when it is, and when nothing is missing any more. */
  waiting_for: WaitingFor | null;
};

/** Blocks; the chain's own word that the block is final; a second endpoint that shows the transfer too. */
export type WaitingFor = 'confirmations' | 'finality' | 'second_endpoint';

/** The body of a creation, of a successful cancel, and of each item of a list. Times are RFC 3339 UTC with milliseconds. */
export type Payment = {
  payment_id: string;
  payment_url: string;
  status: PaymentStatus;
  /** Decimal text: what the customer has to send. As the merchant sent it, unless the amount is a unique one. */
  amount: string;
  currency: 'USDT';
  network: string;
  merchant_wallet: string;
  description: string;
  created_at: string;
  expires_at: string;
  paid_at: string | null;
  cancelled_at: string | null;
  transaction: PaymentTransaction | null;
  /** The merchant's own name for its order, and what else it wants to find beside it; both private. */
  order_id: string | null;
  metadata: PaymentMetadata;
  /** Where the checkout page leads back to, as the merchant sent it. */
  return_url: string | null;
  /** Decimal text, kept as the merchant sent it. */
  requested_amount: string;
  /** 8 characters by which customer and merchant can name the payment; see payment-reference.ts. */
  reference: string;
};

/** Names and texts of the merchant's. */
export type PaymentMetadata = Record<string, string>;

/** Why a transfer to the wallet of a payment does not pay it. `ambiguous`: it has the exact amount, and may be for another payment as well. */
export const unmatchedReasons = ['underpaid', 'overpaid', 'late', 'after_cancel', 'duplicate', 'ambiguous'] as const;

export type UnmatchedReason = (typeof unmatchedReasons)[number];

/** A transfer names at most so many payments that it may be for. */
export const CANDIDATES_MAX = 20;

export type UnmatchedTransfer = {
  transaction_id: string;
  transaction_event_index: number;
  /** Decimal text in USDT. */
  amount: string;
  block_timestamp: string;
  /** `paid_another`: it came within an hour after this payment ended, and paid a later payment of the same amount. */
  reason: UnmatchedReason | 'paid_another';
  /** How many payments of the wallet it may be for, this one included. */
  candidate_count: number;
};

/**
 * What may keep the money of a payment from being noticed or used: the token's issuer has frozen the wallet, or the network cannot be read
 * just now.
 */
export const paymentWarnings = ['wallet_blacklisted', 'network_unreadable'] as const;

export type PaymentWarning = (typeof paymentWarnings)[number];

export type PaymentDetails = Payment & { unmatched_transfers: UnmatchedTransfer[]; warnings: PaymentWarning[] };

/** All that a public token reveals. No transaction, whatever the status: from it anybody finds the payer's address. */
export type PublicPayment = Pick<
  Payment,
  'status' | 'amount' | 'currency' | 'network' | 'merchant_wallet' | 'description' | 'expires_at'
>;

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
  /** By which the gateway finds who is paid; never shown. It and the reference are null from a payments service of an older release. */
  merchant_id: string | null;
  reference: string | null;
  return_url: string | null;
  /**
   * Money at this address that may be for this payment and did not pay it, decimal text in USDT: from 50 to 200 % of the amount. While the
   * payment waits, and for 24 hours after it ended unpaid. Other payments may have the same money here. Absent where it was not asked for.
   */
  arrived?: { amount: string } | null;
  /** Absent from a payments service of an older release. */
  warnings?: PaymentWarning[];
  /** The answer to a customer who has named a transaction; null or absent when none was named. */
  lookup?: CheckoutLookup | null;
};

/**
 * What a customer's transaction has to do with the payment. Everything but `pays_this_payment` follows from the chain and this payment alone,
 * so that no other payment shows.
 */
export const checkoutLookupOutcomes = [
  /** It pays this payment, or is about to. */
  'pays_this_payment',
  /** Another amount than asked for came to the right address. */
  'other_amount',
  /** It went to another address. */
  'other_address',
  /** It went to this address on another network. */
  'other_network',
  /** It brought another token to this address, or the network's own coin. */
  'other_token',
  /** It failed on chain and moved nothing. */
  'failed',
  /** It is in no block yet, or in one that is not read yet. */
  'pending',
  /** It came after the payment's end. */
  'too_late',
  /** It is of the right amount and address, and pays something else: it is from before this payment, or one too many. */
  'not_for_this_payment',
  /** No network has such a transaction now. */
  'unknown',
  /** It could not be looked up now; later it can. */
  'not_read_yet',
  /** What was typed is no transaction id: 64 hexadecimal characters, with or without 0x. */
  'no_transaction_id',
  /** Asked more than six times a minute. */
  'asked_too_often',
] as const;

export type CheckoutLookupOutcome = (typeof checkoutLookupOutcomes)[number];

export type CheckoutLookup = {
  /** 64 lowercase hex characters, no 0x; for `no_transaction_id` the first 100 characters of what was typed. */
  transaction_id: string;
  outcome: CheckoutLookupOutcome;
  /** What came, decimal text in USDT: for `other_amount`, `too_late`, and `other_network` where it brought USDT. */
  amount: string | null;
  /** Id of the network that the transaction is on: for `other_network`. */
  network: string | null;
};

/**
 * How deep a transfer lies in the chain. `seen` grows with each block, as far as is known now, and is from 0 to `required`. Both are
 * equal while the network or its operator asks for more than depth: such a payment is CHECKING all the same.
 */
export type SeenConfirmations = { seen: number; required: number };

/**
 * A creation after validation: canonical wallet, description in Unicode NFC, network decided. Two bodies are the same when these are.
 * What is optional is absent where it would say what its absence says.
 */
export type CreationRequest = {
  amount: string;
  merchant_wallet: string;
  description: string;
  network: string;
  order_id?: string;
  metadata?: PaymentMetadata;
  return_url?: string;
  /** Seconds until the payment expires. */
  expires_in?: number;
  /** Whether the service adds a few ten-thousandths, so that several payments may wait for one price on one address. */
  unique_amount?: boolean;
};
