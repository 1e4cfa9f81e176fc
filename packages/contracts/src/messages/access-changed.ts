import type { AccessPolicy } from '../access.ts';
import { defineMessage } from '../message.ts';
import { fields, nullable } from './fields.ts';

/** The whole policy of a merchant after a change. Published by quota, consumed by payments, which keeps the highest policy_version. */
export type AccessChanged = AccessPolicy & { changed_at: string };

export const AccessChanged = defineMessage<AccessChanged>({
  name: 'AccessChanged',
  version: 1,
  published_by: 'quota',
  properties: {
    merchant_id: fields.merchantId,
    policy_version: fields.version,
    access_type: fields.accessType,
    account_active: { type: 'boolean' },
    creation_paused: { type: 'boolean' },
    beta_duration_days: nullable(fields.count),
    beta_started_at: nullable(fields.timestamp),
    beta_expires_at: nullable(fields.timestamp),
    total_limit: fields.count,
    daily_limit: nullable(fields.count),
    package_number: fields.version,
    changed_at: fields.timestamp,
  },
});
