import type { Author } from '../../author.ts';
import { defineCall, json, object } from '../../call.ts';
import {
  type Payment,
  type PaymentDetails,
  type PaymentWarning,
  type UnmatchedReason,
  paymentStatuses,
} from '../../api/payment.ts';
import { type CheckoutPayment } from '../../api/checkout.ts';
import type { PaymentProof } from '../../api/proof.ts';
import { type CreationRequest, type OptionName, optionParts, options } from '../../api/creation.ts';
import type { Acceptance } from './acceptance.ts';
import type { PaymentIncident } from '../incidents.ts';
import { parseAddress } from '../../address.ts';
import { parseReference } from '../../payment-reference.ts';
import { query } from '../../query.ts';
import { isId } from '../../ids.ts';

const text = { type: 'string', minLength: 1 };

const optionNames = Object.keys(options) as OptionName[];

/** The amount is absent in a creation with a price, wallet and network in one with a wallet pool. */
const sometimes = ['amount', 'merchant_wallet', 'network', ...optionNames] as const;

const creationFields = {
  idempotency_key: { ...text, maxLength: 255 },
  amount: text,
  merchant_wallet: text,
  network: text,
  description: { ...text, maxLength: 500 },
  ...optionParts(optionNames, 'wire'),
};

/** The gateway turns it into 503. Between services, 503 says that payments itself has a problem. */
export const NO_RATE_STATUS = 424;

/** A creation that the gateway has validated and counted. */
type ValidCreation = CreationRequest & { idempotency_key: string };

/**
 * Called by the gateway. 201 with bytes that are repeated exactly for a repeated request, then with the header
 * `Idempotency-Replayed: true`; 403 with a code and a message; 409; NO_RATE_STATUS while no rate converts its price; 503
 * when it can't be decided.
 */
export const CreatePayment = defineCall('payments', 'POST /merchants/:merchant_id/payments', json<Payment>(), {
  callers: ['api-gateway'],
  body: object<ValidCreation>(creationFields, { optional: sometimes }),
  // Above the public limit of 64 KiB, because JSON may encode a character with more bytes than the merchant did.
  maxBodyBytes: 256 * 1024,
  status: 201,
  // The idempotency key makes a repeated call safe.
  idempotent: true,
});

/** The most creations in one call. Each has at most 20 KiB in the longest JSON encoding. */
export const CREATIONS_MAX = 32;

export type CreationOfMerchant = ValidCreation & {
  merchant_id: string;
  /** The id of the merchant's request. */
  request_id: string;
  /** W3C traceparent of that request; absent when tracing is off. */
  traceparent?: string;
};

/** CreatePayment's answer with 201. */
export type DecidedCreation = {
  merchant_id: string;
  idempotency_key: string;
  replayed: boolean;
  /** The exact text of the 201. */
  body: string;
};

/**
 * Several creations in one call and one transaction. Creations that are missing in `created` were not stored and must
 * be sent with CreatePayment: one that is refused, that would wait for a lock, or with the merchant or wallet of an
 * earlier one of this call.
 */
export const CreatePayments = defineCall(
  'payments',
  'POST /payment-creations',
  json<{ created: DecidedCreation[] }>({
    type: 'object',
    required: ['created'],
    properties: { created: { type: 'array' } },
  }),
  {
    callers: ['api-gateway'],
    body: object<{ creations: CreationOfMerchant[] }>({
      creations: {
        type: 'array',
        maxItems: CREATIONS_MAX,
        items: object<CreationOfMerchant>(
          { ...creationFields, merchant_id: text, request_id: text, traceparent: text },
          { optional: [...sometimes, 'traceparent'] },
        ).schema as object,
      },
    }),
    maxBodyBytes: 1024 * 1024,
    idempotent: true,
  },
);

/**
 * Filters for lists of payments. A payment is listed when it matches all of them. A start time is included, an end time
 * is not.
 */
export const listFilters = {
  status: query.oneOf(...paymentStatuses),
  created_from: query.timestamp,
  created_to: query.timestamp,
  /** The merchant's own id for its order. Several payments may have it. */
  order_id: query.orderId,
  reference: {
    parse: (text: string) => parseReference(text) && text,
    reason: 'must be the 8 characters of a reference',
  },
  /** Of the transfer that pays the payment, or is about to. */
  transaction_id: query.transactionId,
  merchant_wallet: {
    parse: (text: string) => parseAddress(text)?.address ?? null,
    reason: 'must be a wallet address, in mixed case only with the right checksum',
  },
  network: query.text,
  paid_from: query.timestamp,
  paid_to: query.timestamp,
};

/** The most payments that a page of a search reads (ADR 0077). */
export const SEARCHED_MAX = 20_000;

/**
 * For operators and a merchant's people; the public API doesn't have these. No index answers them, so that a list with
 * one of them is a search.
 */
const searchFilters = {
  /**
   * A part of the description in upper or lower case, the beginning of the order id, or the amount, also as it was
   * before it became a unique one: `49.9` finds 49.90.
   */
  text: query.searchText,
  /** Both ends are included, in USDT. */
  amount_min: query.amount,
  amount_max: query.amount,
};

export const pageParameters = {
  cursor: { parse: readCursor, reason: 'must be a next_cursor of an earlier page' },
  limit: query.integer(1, 100),
};

/**
 * A payment's position in a list, newest first. No two payments have the same one. payments writes it; the gateway
 * refuses any other text.
 */
export type Cursor = { createdAt: Date; paymentId: string };

/** Opaque to merchants: only texts that this function wrote can be read. */
export function writeCursor({ createdAt, paymentId }: Cursor): string {
  return Buffer.from(`${createdAt.getTime()}.${paymentId}`).toString('base64url');
}

/** @returns null for a text that writeCursor() did not write. */
export function readCursor(text: string): Cursor | null {
  const [, time, paymentId] = /^(\d{1,15})\.(\w{36})$/.exec(Buffer.from(text, 'base64url').toString('utf8')) ?? [];
  if (time === undefined || paymentId === undefined || !isId('pay', paymentId)) return null;
  const cursor = { createdAt: new Date(Number(time)), paymentId };
  // Base64 can encode the same bytes in several ways, and a Date is limited to 8.64e15 milliseconds.
  return !Number.isNaN(cursor.createdAt.getTime()) && writeCursor(cursor) === text ? cursor : null;
}

/**
 * A page of a list. A page of a search may have fewer payments than `limit`, even none, before the end:
 * `next_cursor` is null only at the end.
 */
type PaymentPage<Listed> = {
  payments: Listed[];
  next_cursor: string | null;
};

/** How far a search has looked when it stopped before it had a full page: the payments created from then on. */
type SearchedTo = { searched_to: string | null };

/** Newest first, 20 unless `limit` says otherwise. Only a search has `searched_to`. */
export const ListPayments = defineCall(
  'payments',
  'GET /merchants/:merchant_id/payments',
  json<PaymentPage<Payment> & Partial<SearchedTo>>(),
  {
    callers: ['api-gateway'],
    access: 'viewer',
    forMerchants: 'viewer',
    query: { ...listFilters, ...searchFilters, ...pageParameters },
  },
);

export type ListedPayment = Payment & { merchant_id: string };

/** The most merchants that one list can have, such as those of a name. */
export const LISTED_MERCHANTS_MAX = 20;

/**
 * For operators: the payments of all merchants, or of some, newest first, 50 unless `limit` says otherwise. Every such
 * list is a search.
 */
export const ListAllPayments = defineCall(
  'payments',
  'GET /payment-list',
  json<PaymentPage<ListedPayment> & SearchedTo>(),
  {
    access: 'viewer',
    query: {
      status: listFilters.status,
      created_from: listFilters.created_from,
      created_to: listFilters.created_to,
      network: listFilters.network,
      /** Ids with commas between them. */
      merchants: {
        parse: (text: string) => {
          const ids = [...new Set(text.split(','))];
          return ids.length <= LISTED_MERCHANTS_MAX && ids.every((id) => isId('mer', id)) ? ids : null;
        },
        reason: `must be at most ${LISTED_MERCHANTS_MAX} merchant ids with commas between them`,
      },
      ...searchFilters,
      ...pageParameters,
    },
  },
);

/** A payment as its merchant sees it, without what is only for operators. 404 for another merchant's payment. */
export const ReadOwnPayment = defineCall(
  'payments',
  'GET /merchants/:merchant_id/payments/:payment_id',
  json<PaymentDetails>(),
  { access: 'viewer', forMerchants: 'viewer' },
);

/**
 * What proves that a payment was paid. 404 for another merchant's payment; 409 `proof_unavailable` with a sentence where
 * there is no proof.
 */
export const ReadPaymentProof = defineCall(
  'payments',
  'GET /merchants/:merchant_id/payments/:payment_id/proof',
  json<PaymentProof>(),
  { callers: ['api-gateway'], access: 'viewer', forMerchants: 'viewer' },
);

/** 409 for every payment that can't be cancelled, for any reason, so that the answer doesn't reveal which ids exist. */
export const CancelPayment = defineCall(
  'payments',
  'POST /merchants/:merchant_id/payments/:payment_id/cancel',
  json<Payment>(),
  { callers: ['api-gateway'] },
);

/**
 * The same by an operator, for a payment of any merchant: 404 for an unknown one; 409 with a sentence for one that is
 * not PENDING. Not retried automatically, because the second answer would be the 409.
 */
export const CancelPaymentByOperator = defineCall('payments', 'POST /payments/:payment_id/cancel', json<Payment>(), {
  authored: true,
  access: 'support',
});

/**
 * The most details in one call. With 100 unmatched transfers each, the answer has about a megabyte, half of the
 * client's limit.
 */
export const DETAILS_MAX = 50;

/** A payment's id with its merchant's id. */
export type OwnPayment = { merchant_id: string; payment_id: string };

/** Reads payments of several merchants in one call. Each entry says which payment it is; missing ones are left out. */
export const ReadPaymentDetails = defineCall(
  'payments',
  'POST /payment-details',
  json<{ found: { merchant_id: string; payment: PaymentDetails }[] }>(foundSchema()),
  {
    callers: ['api-gateway'],
    body: object<{ payments: OwnPayment[] }>({
      payments: {
        type: 'array',
        maxItems: DETAILS_MAX,
        items: {
          type: 'object',
          required: ['merchant_id', 'payment_id'],
          properties: { merchant_id: { type: 'string' }, payment_id: { type: 'string' } },
        },
      },
    }),
    idempotent: true,
    changes: false,
  },
);

export const PUBLIC_PAYMENTS_MAX = 200;

/**
 * Reads several payments by the SHA-256 of their public tokens, in hex. Each entry says which payment it is; missing
 * ones are left out.
 */
export const ReadPublicPayments = defineCall(
  'payments',
  'POST /public-payments',
  json<{ found: ({ token_sha256: string } & CheckoutPayment)[] }>(foundSchema()),
  {
    callers: ['api-gateway'],
    body: object<{ tokens_sha256: string[] }>({
      tokens_sha256: {
        type: 'array',
        maxItems: PUBLIC_PAYMENTS_MAX,
        items: { type: 'string', pattern: '^[0-9a-f]{64}$' },
      },
    }),
    idempotent: true,
    changes: false,
  },
);

/** A list. The gateway finds its entries by the ids in them. */
function foundSchema(): object {
  return { type: 'object', required: ['found'], properties: { found: { type: 'array' } } };
}

/** A transfer in the ledger, as an operator sees it with a payment. The row has more fields, for machines. */
export type LedgerEntry = {
  transaction_id: string;
  transaction_event_index: number;
  phase: string;
  /** Decimal text in USDT. */
  amount: string;
  sender: string;
  block_number: number;
  block_timestamp: string;
  /** When its phase and confirmations last changed. */
  observed_at: string;
  confirmations: number;
  confirmations_required: number;
  payment_id: string | null;
  reason: UnmatchedReason | null;
  /** All payments that it may be for, of any merchant. */
  candidates: string[];
};

export type OperatorsPayment = Payment & {
  merchant_id: string;
  warnings: PaymentWarning[];
  transfers: LedgerEntry[];
  incidents: PaymentIncident[];
  acceptance: Acceptance | null;
  /** Null unless an operator cancelled it. Absent in answers of older releases. */
  cancellation?: Cancellation | null;
};

/** An operator's cancellation of a payment. */
export type Cancellation = Author & { cancelled_at: string };

/** All data of a payment of any merchant. */
export const ReadPayment = defineCall('payments', 'GET /payments/:payment_id', json<OperatorsPayment>(), {
  access: 'viewer',
});
