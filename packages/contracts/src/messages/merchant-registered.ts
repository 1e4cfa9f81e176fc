import type { AccessType } from '../access.ts';
import { defineMessage } from '../message.ts';
import { fields, nullable } from './fields.ts';

/** A merchant got its credentials. Published by api-gateway, consumed by quota, which opens its policy. */
export type MerchantRegistered = {
  merchant_id: string;
  name: string;
  access_type: AccessType;
  total_limit: number;
  /** Null means no daily cap. */
  daily_limit: number | null;
  /** Null for legacy. */
  beta_duration_days: number | null;
  registered_at: string;
};

export const MerchantRegistered = defineMessage<MerchantRegistered>({
  name: 'MerchantRegistered',
  version: 1,
  published_by: 'api-gateway',
  properties: {
    merchant_id: fields.merchantId,
    name: { type: 'string', minLength: 1, maxLength: 200 },
    access_type: fields.accessType,
    total_limit: fields.count,
    daily_limit: nullable(fields.count),
    beta_duration_days: nullable(fields.count),
    registered_at: fields.timestamp,
  },
});
