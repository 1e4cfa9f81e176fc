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
  /** Decimal text, kept as the merchant sent it. */
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
};

/** Why a transfer to the wallet of a payment does not pay it. */
export type UnmatchedReason = 'underpaid' | 'overpaid' | 'late' | 'after_cancel' | 'duplicate';

export type UnmatchedTransfer = {
  transaction_id: string;
  transaction_event_index: number;
  /** Decimal text in USDT. */
  amount: string;
  block_timestamp: string;
  reason: UnmatchedReason;
};

export type PaymentDetails = Payment & { unmatched_transfers: UnmatchedTransfer[] };

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
};

/**
 * How deep a transfer lies in the chain. `seen` grows with each block, as far as is known now, and is from 0 to `required`. Both are
 * equal while the network or its operator asks for more than depth: such a payment is CHECKING all the same.
 */
export type SeenConfirmations = { seen: number; required: number };

/** A creation after validation: canonical wallet, description in Unicode NFC, network decided. Two bodies are the same when these are. */
export type CreationRequest = {
  amount: string;
  merchant_wallet: string;
  description: string;
  network: string;
};
