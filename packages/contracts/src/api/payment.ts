import { AMOUNT_PATTERN } from '../amount.ts';
import type { Price, Rate } from '../rates.ts';
import { rateWire } from './rate.ts';
import { SENT_AMOUNT_PATTERN, type transaction } from './transaction.ts';
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

export const unmatchedTransfer = {
  description:
    'A transfer to the wallet that may be for this payment but does not pay it. Ask the customer whether they ' +
    'sent it; then accept it, send the money back, or leave it.',
  type: 'object',
  required: ['transaction_id', 'transaction_event_index', 'amount', 'block_timestamp', 'reason', 'candidate_count'],
  properties: {
    transaction_id: { $ref: '#/components/schemas/TransactionId' },
    transaction_event_index: { $ref: '#/components/schemas/TransactionEventIndex' },
    amount: { description: 'The amount transferred, in USDT.', type: 'string', pattern: SENT_AMOUNT_PATTERN },
    block_timestamp: { description: 'The time of its block.', $ref: '#/components/schemas/Timestamp' },
    reason: {
      description:
        '- `underpaid`, `overpaid`: less or more than the amount of this payment.\n- `late`: the exact amount, ' +
        'but outside the time of this payment, usually after it expired.\n- `after_cancel`: the exact amount, ' +
        'after you cancelled the payment.\n- `duplicate`: another transfer pays this payment, or is about ' +
        'to.\n- `ambiguous`: the exact amount, but its time fits this payment and others of the same amount. It ' +
        'pays none of them by itself.\n- `paid_another`: it paid a later payment of the same amount, and arrived ' +
        'within an hour after this one ended. It cannot be accepted for this payment. It is listed because its ' +
        'sender may be the customer of this payment.',
      type: 'string',
      enum: [...unmatchedReasons, 'paid_another'],
    },
    candidate_count: {
      description:
        'The number of payments that it may be for, including this one. If it is 2 or more, accepting the ' +
        'transfer requires `confirm_candidates`.',
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
      'The checkout page for your customer. The last segment of the URL is the public token, which can only ' +
      'read this payment.',
    type: 'string',
    format: 'uri',
    pattern: '^https?://.+/pay/[A-Za-z0-9_-]{43}$',
  },
  status: { $ref: '#/components/schemas/PaymentStatus' },
  amount: {
    description: 'The amount to send: the one that you sent, or the unique amount that replaces it.',
    $ref: '#/components/schemas/Amount',
  },
  currency: { description: 'Always USDT.', const: 'USDT' },
  network: {
    description: 'The network on which the customer pays.',
    type: 'string',
    pattern: '^[a-z][a-z0-9-]{0,31}$',
  },
  merchant_wallet: {
    description: 'The address that receives the money; an EVM address with its EIP-55 checksum.',
    $ref: '#/components/schemas/Wallet',
  },
  description: { description: 'Your text, in Unicode NFC.', type: 'string', minLength: 1, maxLength: 500 },
  created_at: {
    description:
      'When the payment was created, and its payment window begins. The time of the block decides whether a ' +
      'transfer is in the window, not the time at which we saw it.',
    $ref: '#/components/schemas/Timestamp',
  },
  expires_at: { description: 'When the payment window ends.', $ref: '#/components/schemas/Timestamp' },
  paid_at: {
    description: 'When it became `PAID`, or null.',
    anyOf: [{ $ref: '#/components/schemas/Timestamp' }, { type: 'null' }],
  },
  cancelled_at: {
    description: 'When you cancelled it, or null. It stays if the payment is paid later.',
    anyOf: [{ $ref: '#/components/schemas/Timestamp' }, { type: 'null' }],
  },
  transaction: {
    description:
      'The transfer that pays it, in `CHECKING` and `PAID`; otherwise null. In `CHECKING` it may briefly be ' +
      'null, if a reorganisation of the chain removes the transfer.',
    anyOf: [{ $ref: '#/components/schemas/PaymentTransaction' }, { type: 'null' }],
  },
} as const;

const laterFields = {
  requested_amount: {
    description: 'The amount that you sent, or that your price was converted to.',
    $ref: '#/components/schemas/Amount',
  },
  reference: {
    description:
      'A short name of the payment that your customer can read out to you. The checkout page shows it. It has ' +
      'digits and capital letters without I, L, O and U.',
    type: 'string',
    pattern: '^[0-9A-HJKMNP-TV-Z]{8}$',
  },
  dedicated: {
    description: 'Whether the payment has its address for itself, so that all transfers to it count together.',
    type: 'boolean',
  },
  derivation_index: {
    description: 'Which child of the extended key of its wallet pool the address is; otherwise null.',
    type: ['integer', 'null'],
    minimum: 0,
  },
  received_amount: {
    description:
      'The sum of the confirmed transfers to the address of a dedicated payment, in USDT; null for other payments.',
    type: ['string', 'null'],
    pattern: SENT_AMOUNT_PATTERN,
  },
  rate: {
    description: 'The rate that converted the price when the payment was created; null without a price.',
    anyOf: [{ $ref: '#/components/schemas/Rate' }, { type: 'null' }],
  },
} as const;

/** A dedicated payment and its events list at most this many transfers. */
export const PARTS_MAX = 100;

export const receivedTransfer = {
  description: 'A transfer to the address of a dedicated payment.',
  type: 'object',
  required: ['transaction_id', 'transaction_event_index', 'amount', 'block_timestamp', 'confirmed', 'counts'],
  properties: {
    transaction_id: { $ref: '#/components/schemas/TransactionId' },
    transaction_event_index: { $ref: '#/components/schemas/TransactionEventIndex' },
    amount: { description: 'The amount transferred, in USDT.', type: 'string', pattern: SENT_AMOUNT_PATTERN },
    block_timestamp: { description: 'The time of its block.', $ref: '#/components/schemas/Timestamp' },
    confirmed: { description: 'Whether it has the confirmations that the network requires.', type: 'boolean' },
    counts: {
      description:
        'Whether it pays the payment together with others, or will. False if it came too late, or after `PAID`.',
      type: 'boolean',
    },
  },
} as const;

export const warnings = {
  description:
    'Problems that delay or block the money.\n- `wallet_blacklisted`: the issuer of the token has frozen this ' +
    'wallet, so money that arrives cannot be sent on. The checkout page tells the customer not to pay.\n- ' +
    '`network_unreadable`: the network cannot be read at the moment. Transfers are noticed later, and none ' +
    'is lost.',
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
  Price: Price;
  Rate: Rate;
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
export type Fields<Properties> = { -readonly [name in keyof Properties]: Field<Properties[name]> };

/** The transfer that pays a payment, as a merchant reads it. Times are RFC 3339 UTC with milliseconds. */
export type PaymentTransaction = Fields<(typeof transaction)['properties']>;

/** The body of a creation, of a successful cancel, and of each item of a list. */
export type Payment = Fields<typeof ownFields> & {
  [name in KeptName]: Field<(typeof options)[name]['shown']>;
} & Fields<typeof laterFields>;

export type UnmatchedTransfer = Fields<(typeof unmatchedTransfer)['properties']>;

export type ReceivedTransfer = Fields<(typeof receivedTransfer)['properties']>;

export type PaymentDetails = Payment & {
  unmatched_transfers: UnmatchedTransfer[];
  /** Of a dedicated payment; else empty. */
  transfers: ReceivedTransfer[];
  warnings: PaymentWarning[];
};

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
  /** The rate that converted its price; see the payment. */
  rate: rateWire,
} as const;
export type EventExtras = EventValues & { requested_amount?: string; rate?: Rate };
export const eventExtraNames = Object.keys(eventExtras) as (keyof EventExtras)[];
