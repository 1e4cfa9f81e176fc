import { AMOUNT_PATTERN } from '../amount.ts';
import type { TypeOf } from '../schema.ts';
import {
  eventNames,
  type EventValues,
  keptNames,
  type KeptName,
  optionParts,
  type options,
  type PaymentMetadata,
} from './creation.ts';

/*
 * A payment as a merchant reads it. Each field is defined only here, or in creation.ts if the merchant sends it: types,
 * docs/openapi.yaml, the SDK's types and the export's columns are derived from it.
 */

/**
 * PENDING and CHECKING are unfinished. The others are final, except that a transfer that arrived in time makes EXPIRED
 * and CANCELLED payments PAID.
 */
export const paymentStatuses = ['PENDING', 'CHECKING', 'PAID', 'EXPIRED', 'CANCELLED'] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** More blocks; the chain's own statement that the block is final; a second endpoint that also shows the transfer. */
const waitingFor = ['confirmations', 'finality', 'second_endpoint'] as const;
export type WaitingFor = (typeof waitingFor)[number];

/**
 * Why a transfer to a payment's wallet doesn't pay it. `ambiguous`: it has the exact amount, and may also be for
 * another payment.
 */
export const unmatchedReasons = ['underpaid', 'overpaid', 'late', 'after_cancel', 'duplicate', 'ambiguous'] as const;
export type UnmatchedReason = (typeof unmatchedReasons)[number];

/** A transfer lists at most this many payments that it may be for. */
export const CANDIDATES_MAX = 20;

/** The token's issuer has frozen the wallet; the network can't be read at the moment. */
export const paymentWarnings = ['wallet_blacklisted', 'network_unreadable'] as const;
export type PaymentWarning = (typeof paymentWarnings)[number];

export const transaction = {
  description: 'The transfer that pays a payment.',
  type: 'object',
  required: [
    'transaction_id',
    'transaction_event_index',
    'block_number',
    'block_timestamp',
    'amount',
    'accepted',
    'confirmations',
    'confirmations_required',
    'waiting_for',
  ],
  properties: {
    transaction_id: { $ref: '#/components/schemas/TransactionId' },
    transaction_event_index: { $ref: '#/components/schemas/TransactionEventIndex' },
    block_number: { type: 'integer', minimum: 0, description: 'The block it is in.' },
    block_timestamp: {
      description: 'When the chain says that this block was made.',
      $ref: '#/components/schemas/Timestamp',
    },
    amount: {
      description:
        "How much it carried, in USDT, without trailing zeros. Another amount than the payment's only where " +
        'it was accepted.',
      type: 'string',
      pattern: '^(0|[1-9]\\d*)(\\.\\d+)?$',
    },
    accepted: {
      description: 'Whether it pays because somebody accepted it, and not by its amount and time.',
      type: 'boolean',
    },
    confirmations: {
      type: 'integer',
      minimum: 0,
      description: 'How many blocks confirm it, as far as is known now; as fresh in lists as in the details.',
    },
    confirmations_required: { type: 'integer', minimum: 0, description: 'How many are wanted on this network.' },
    waiting_for: {
      description:
        'What is missing until the payment is `PAID`. `confirmations`: more blocks. `finality`: it has its ' +
        'confirmations, and the network itself has yet to call its block final, which large amounts wait ' +
        'for, and on some networks all. `second_endpoint`: so large an amount must be shown by a second node ' +
        'as well. Null once it is `PAID`, or nothing is missing any more.',
      anyOf: [{ type: 'string', enum: waitingFor }, { type: 'null' }],
    },
  },
} as const;

export const unmatchedTransfer = {
  description:
    'A transfer to the wallet that may be for this payment and does not pay it. Ask the customer whether ' +
    'it is theirs, and then accept it, send the money back, or leave it.',
  type: 'object',
  required: ['transaction_id', 'transaction_event_index', 'amount', 'block_timestamp', 'reason', 'candidate_count'],
  properties: {
    transaction_id: { $ref: '#/components/schemas/TransactionId' },
    transaction_event_index: { $ref: '#/components/schemas/TransactionEventIndex' },
    amount: { description: 'How much came, in USDT.', type: 'string', pattern: '^(0|[1-9]\\d*)(\\.\\d+)?$' },
    block_timestamp: { description: 'The time of its block.', $ref: '#/components/schemas/Timestamp' },
    reason: {
      description:
        "- `underpaid`, `overpaid`: less or more than this payment's amount.\n- `late`: the exact amount, " +
        "outside this payment's time, usually after it expired.\n- `after_cancel`: the exact amount, after " +
        'you cancelled.\n- `duplicate`: another transfer pays this payment already, or is about to.\n- ' +
        '`ambiguous`: the exact amount, and by its time it may be for this payment or for another one of the ' +
        'same amount. It pays neither by itself.\n- `paid_another`: it paid a later payment of the same ' +
        'amount, and came within an hour after this one ended. It cannot be accepted for this payment; it is ' +
        "listed because its sender may be this payment's customer.",
      type: 'string',
      enum: [...unmatchedReasons, 'paid_another'],
    },
    candidate_count: {
      description:
        'How many payments of the wallet it may be for, this one included. From 2 on, accepting it needs ' +
        '`confirm_candidates`.',
      type: 'integer',
      minimum: 1,
      maximum: CANDIDATES_MAX,
    },
  },
} as const;

const ownFields = {
  payment_id: { $ref: '#/components/schemas/PaymentId' },
  payment_url: {
    description:
      'The checkout link for your customer. Its last segment is the public token. It shows this payment ' +
      'and can change nothing.',
    type: 'string',
    format: 'uri',
    pattern: '^https?://.+/pay/[A-Za-z0-9_-]{43}$',
  },
  status: { $ref: '#/components/schemas/PaymentStatus' },
  amount: {
    description: 'What has to be sent, to the last digit. As you sent it, or the unique amount that you asked for.',
    $ref: '#/components/schemas/Amount',
  },
  currency: { description: 'Always USDT.', const: 'USDT' },
  network: {
    description: 'The network on which the transfer is awaited.',
    type: 'string',
    pattern: '^[a-z][a-z0-9-]{0,31}$',
  },
  merchant_wallet: {
    description: 'Your wallet; an EVM address with its EIP-55 checksum.',
    $ref: '#/components/schemas/Wallet',
  },
  description: { description: 'Your text, in Unicode NFC.', type: 'string', minLength: 1, maxLength: 500 },
  created_at: {
    description:
      'When it was created. The window for the transfer begins here; the time of its block counts, not ' +
      'when we saw it.',
    $ref: '#/components/schemas/Timestamp',
  },
  expires_at: { description: 'When the window ends.', $ref: '#/components/schemas/Timestamp' },
  paid_at: {
    description: 'When it became `PAID`, else null.',
    anyOf: [{ $ref: '#/components/schemas/Timestamp' }, { type: 'null' }],
  },
  cancelled_at: {
    description: 'When you cancelled it, else null. A payment that was paid after all keeps it.',
    anyOf: [{ $ref: '#/components/schemas/Timestamp' }, { type: 'null' }],
  },
  transaction: {
    description:
      'The transfer that pays it, there in `CHECKING` and `PAID`, else null. In `CHECKING` it may be null ' +
      'for a moment, just when the chain takes that transfer back.',
    anyOf: [{ $ref: '#/components/schemas/PaymentTransaction' }, { type: 'null' }],
  },
} as const;

const laterFields = {
  requested_amount: { description: 'The amount, as you sent it.', $ref: '#/components/schemas/Amount' },
  reference: {
    description:
      'What your customer can read out to you to name this payment. The page shows it. Letters are ' +
      'capitals; I, L, O and U are not among them.',
    type: 'string',
    pattern: '^[0-9A-HJKMNP-TV-Z]{8}$',
  },
} as const;

export const warnings = {
  description:
    "What may keep money from being noticed or used.\n- `wallet_blacklisted`: the token's issuer has " +
    'frozen this wallet, so what arrives cannot be sent on. The page tells the customer not to pay.\n- ' +
    '`network_unreadable`: the network cannot be read at the moment. Transfers are noticed later; ' +
    'nothing is lost.',
  type: 'array',
  uniqueItems: true,
  items: { type: 'string', enum: paymentWarnings },
} as const;

/** The types that a `$ref` to docs/openapi.yaml means. */
type Referenced = {
  PaymentId: string;
  Amount: string;
  Wallet: string;
  Timestamp: string;
  TransactionId: string;
  TransactionEventIndex: number;
  PaymentStatus: PaymentStatus;
  Metadata: PaymentMetadata;
  PaymentTransaction: PaymentTransaction;
};

/** The type of a field of a public schema. */
type Field<S> = S extends { $ref: `#/components/schemas/${infer Name extends keyof Referenced}` }
  ? Referenced[Name]
  : S extends { const: infer Value }
    ? Value
    : S extends { anyOf: readonly (infer Choice)[] }
      ? Choice extends unknown
        ? Field<Choice>
        : never
      : TypeOf<S>;
type Fields<Properties> = { -readonly [name in keyof Properties]: Field<Properties[name]> };

/** The transfer that pays a payment, as a merchant reads it. Times are RFC 3339 UTC with milliseconds. */
export type PaymentTransaction = Fields<(typeof transaction)['properties']>;

/** The body of a creation, of a successful cancel, and of each item of a list. */
export type Payment = Fields<typeof ownFields> & {
  [name in KeptName]: Field<(typeof options)[name]['shown']>;
} & Fields<typeof laterFields>;

export type UnmatchedTransfer = Fields<(typeof unmatchedTransfer)['properties']>;

export type PaymentDetails = Payment & { unmatched_transfers: UnmatchedTransfer[]; warnings: PaymentWarning[] };

/**
 * Everything that a public token reveals. Never a transaction: it would show the payer's address to anyone with the
 * link.
 */
export const publicFields = [
  'status',
  'amount',
  'currency',
  'network',
  'merchant_wallet',
  'description',
  'expires_at',
] as const;
export type PublicPayment = Pick<Payment, (typeof publicFields)[number]>;

export const paymentProperties = { ...ownFields, ...optionParts(keptNames, 'shown'), ...laterFields };
/** The names of a payment's fields, in the order of the API. */
export const paymentFields = Object.keys(paymentProperties) as (keyof Payment)[];

/**
 * The fields that events repeat from a payment, if it has them, as messages transmit them and in the order of the
 * event.
 */
export const eventExtras = {
  ...optionParts(eventNames, 'wire'),
  /** As the merchant sent it; only if the service made the amount unique. */
  requested_amount: { type: 'string', pattern: AMOUNT_PATTERN },
} as const;
export type EventExtras = EventValues & { requested_amount?: string };
export const eventExtraNames = Object.keys(eventExtras) as (keyof EventExtras)[];

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
  /**
   * A transfer to this address that may be for this payment and didn't pay it, as decimal text in USDT: 50 to 200 % of
   * the amount. Set while the payment waits, and for 24 hours after it ended unpaid. Other payments may show the same
   * transfer. Absent if it was not requested.
   */
  arrived?: { amount: string } | null;
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
