import { AMOUNT_PATTERN } from '../amount.ts';
import { unmatchedReasons } from '../api/payment.ts';
import { timestampSchema } from '../timestamp.ts';

/** Schemas of the fields that several messages share. */
export const fields = {
  merchantId: { type: 'string', pattern: '^mer_[0-9a-f]{32}$' },
  paymentId: { type: 'string', pattern: '^pay_[0-9a-f]{32}$' },
  network: { type: 'string', pattern: '^[a-z][a-z0-9-]{0,31}$' },
  address: { type: 'string', minLength: 34, maxLength: 42 },
  amount: { type: 'string', pattern: AMOUNT_PATTERN },
  /** Base units of the token, decimal integer text. */
  tokenUnits: { type: 'string', pattern: '^[1-9][0-9]{0,77}$' },
  /** 64 lowercase hex characters, no 0x. */
  transactionId: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  /** Lowercase hex. */
  sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  /** Position of the event in the receipt's full log list, from 0. Source: the API contract, "Webhook event". */
  eventIndex: { type: 'integer', minimum: 0 },
  count: { type: 'integer', minimum: 0 },
  version: { type: 'integer', minimum: 1 },
  timestamp: timestampSchema,
  accessType: { type: 'string', enum: ['beta', 'legacy'] },
} as const;

/** A transfer that doesn't pay by itself: its amount, the reason, and where and when it arrived. */
export const unmatchedMoney = {
  type: 'object',
  required: ['amount', 'reason', 'network', 'merchant_wallet', 'block_timestamp'],
  properties: {
    /** Its amount, decimal text in USDT. */
    amount: { type: 'string', minLength: 1 },
    /** Why it doesn't pay; null when it can't be for any payment. */
    reason: { enum: [...unmatchedReasons, null] },
    network: fields.network,
    merchant_wallet: fields.address,
    block_timestamp: fields.timestamp,
  },
} as const;

/** The same field, or null. */
export const nullable = <const S extends { type: string }>(schema: S) =>
  ({ ...schema, type: [schema.type, 'null'] }) as Omit<S, 'type'> & { type: readonly [S['type'], 'null'] };
