import { defineMessage, type BodyOfMessage } from '../message.ts';
import { fields, nullable } from './fields.ts';

/** A merchant got its credentials. Published by api-gateway, consumed by quota, which creates its policy. */
export const MerchantRegistered = defineMessage({
  name: 'MerchantRegistered',
  version: 1,
  published_by: 'api-gateway',
  properties: {
    merchant_id: fields.merchantId,
    name: { type: 'string', minLength: 1, maxLength: 200 },
    access_type: fields.accessType,
    total_limit: fields.count,
    /** Null means no daily limit. */
    daily_limit: nullable(fields.count),
    /** Null for legacy. */
    beta_duration_days: nullable(fields.count),
    registered_at: fields.timestamp,
  },
});

export type MerchantRegistered = BodyOfMessage<typeof MerchantRegistered>;
