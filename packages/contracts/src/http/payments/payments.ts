import type { Author } from '../../author.ts';
import { defineCall, json, object } from '../../call.ts';
import {
  type CheckoutPayment,
  type Payment,
  type PaymentDetails,
  type PaymentWarning,
  type UnmatchedReason,
} from '../../api/payment.ts';
import { type CreationRequest, type OptionName, optionParts, options } from '../../api/creation.ts';
import type { Acceptance } from './acceptance.ts';
import type { PaymentIncident } from './incidents.ts';
import { listFilters, pageParameters } from './list-filters.ts';

const text = { type: 'string', minLength: 1 };

const optionNames = Object.keys(options) as OptionName[];

const creationFields = {
  idempotency_key: { ...text, maxLength: 255 },
  amount: text,
  merchant_wallet: text,
  network: text,
  description: { ...text, maxLength: 500 },
  ...optionParts(optionNames, 'wire'),
};

/** A creation that the gateway has validated and counted. */
type ValidCreation = CreationRequest & { idempotency_key: string };

/**
 * Called by the gateway. 201 with the exact bytes that a repetition gets again, then with the header `Idempotency-Replayed: true`;
 * 403 with a code and a message; 409; 503 when it cannot be decided.
 */
export const CreatePayment = defineCall('payments', 'POST /merchants/:merchant_id/payments', json<Payment>(), {
  callers: ['api-gateway'],
  body: object<ValidCreation>(creationFields, { optional: optionNames }),
  // Above the public limit of 64 KiB: JSON may spell a character longer than the merchant did.
  maxBodyBytes: 256 * 1024,
  status: 201,
  // The key makes sending it twice as good as once.
  idempotent: true,
});

/** Most creations in one call; each has 20 KiB at most, spelled as long as JSON can. */
export const CREATIONS_MAX = 32;

export type CreationOfMerchant = ValidCreation & {
  merchant_id: string;
  /** Of the request that asks for it. */
  request_id: string;
  /** W3C traceparent of that request; absent where nothing is traced. */
  traceparent?: string;
};

/** What CreatePayment answers with 201. */
export type DecidedCreation = {
  merchant_id: string;
  idempotency_key: string;
  replayed: boolean;
  /** The exact text of the 201. */
  body: string;
};

/**
 * Creations in one call and one transaction. What is not among the created has to be asked by CreatePayment, and nothing of it is stored:
 * a creation that is refused, that would wait for a lock, or whose merchant or wallet an earlier one of the call has.
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
          { optional: [...optionNames, 'traceparent'] },
        ).schema as object,
      },
    }),
    maxBodyBytes: 1024 * 1024,
    idempotent: true,
  },
);

/** Newest first, 20 unless `limit` says otherwise. */
export const ListPayments = defineCall(
  'payments',
  'GET /merchants/:merchant_id/payments',
  json<{ payments: Payment[]; next_cursor: string | null }>(),
  { callers: ['api-gateway'], access: 'viewer', forMerchants: true, query: { ...listFilters, ...pageParameters } },
);

/** A payment as its merchant sees it: what is an operator's business is not in it. 404 for another merchant's. */
export const ReadOwnPayment = defineCall(
  'payments',
  'GET /merchants/:merchant_id/payments/:payment_id',
  json<PaymentDetails>(),
  { access: 'viewer', forMerchants: true },
);

/** 409 for every payment that cannot be cancelled, whatever the cause, so that no answer tells which ids exist elsewhere. */
export const CancelPayment = defineCall(
  'payments',
  'POST /merchants/:merchant_id/payments/:payment_id/cancel',
  json<Payment>(),
  { callers: ['api-gateway'] },
);

/**
 * The same by an operator, for a payment of any merchant: 404 for an unknown one, 409 with a sentence for one that is not PENDING. Not
 * repeated by itself: the second answer would be the 409.
 */
export const CancelPaymentByOperator = defineCall('payments', 'POST /payments/:payment_id/cancel', json<Payment>(), {
  authored: true,
  access: 'support',
});

/** Most details in one call: with 100 unmatched transfers each, the answer has about a megabyte, half of what the client reads. */
export const DETAILS_MAX = 50;

/** A payment as its merchant names it. */
export type OwnPayment = { merchant_id: string; payment_id: string };

/** Many merchants' payments in one call. Each entry names what it is about; what is not found is left out. */
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

/** Many payments by SHA-256 of their public tokens, in hex. Each entry names what it is about; what is not found is left out. */
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

/** A list, as the gateway has always checked: its entries are looked up by what they name. */
function foundSchema(): object {
  return { type: 'object', required: ['found'], properties: { found: { type: 'array' } } };
}

/** A transfer of the ledger as an operator sees it beside a payment. The row has more fields, which are for machines. */
export type LedgerEntry = {
  transaction_id: string;
  transaction_event_index: number;
  phase: string;
  /** Decimal text in USDT. */
  amount: string;
  sender: string;
  block_number: number;
  block_timestamp: string;
  /** When its phase and confirmations became what they are. */
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

/** An operator's decision that a payment is not to be paid any more. */
export type Cancellation = Author & { cancelled_at: string };

/** Everything known of a payment of any merchant. */
export const ReadPayment = defineCall('payments', 'GET /payments/:payment_id', json<OperatorsPayment>(), {
  access: 'viewer',
});
