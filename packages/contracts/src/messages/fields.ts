import { AMOUNT_PATTERN } from '../amount.ts';
import { timestampSchema } from '../timestamp.ts';

/** Schemas of the fields that several messages share. */
export const fields = {
  merchantId: { type: 'string', pattern: '^mer_[0-9a-f]{32}$' },
  paymentId: { type: 'string', pattern: '^pay_[0-9a-f]{32}$' },
  network: { type: 'string', pattern: '^[a-z][a-z0-9-]{0,31}$' },
  address: { type: 'string', minLength: 34, maxLength: 42 },
  amount: { type: 'string', pattern: AMOUNT_PATTERN },
  transactionId: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  count: { type: 'integer', minimum: 0 },
  version: { type: 'integer', minimum: 1 },
  timestamp: timestampSchema,
  accessType: { type: 'string', enum: ['beta', 'legacy'] },
} as const;

/** The same field, or null. */
export function nullable(schema: { type: string }): object {
  return { ...schema, type: [schema.type, 'null'] };
}
