import { defineMessage, type BodyOfMessage } from '../message.ts';
import { fields, nullable } from './fields.ts';

/** The whole policy of a merchant after a change. Published by quota, consumed by payments, which keeps the highest policy_version. */
export const AccessChanged = defineMessage({
  name: 'AccessChanged',
  version: 1,
  published_by: 'quota',
  properties: {
    merchant_id: fields.merchantId,
    /** Grows with every change; only the newest version counts. */
    policy_version: fields.version,
    access_type: fields.accessType,
    /** False while the whole account is blocked. */
    account_active: { type: 'boolean' },
    creation_paused: { type: 'boolean' },
    beta_duration_days: nullable(fields.count),
    /** Null until a beta is activated. */
    beta_started_at: nullable(fields.timestamp),
    beta_expires_at: nullable(fields.timestamp),
    /** Payments allowed in this package. */
    total_limit: fields.count,
    /** Payments allowed per UTC day; null means no daily limit. */
    daily_limit: nullable(fields.count),
    /** Grows when a new package begins. The package's usage is counted from there; lifetime usage continues. */
    package_number: fields.version,
    changed_at: fields.timestamp,
  },
});

export type AccessChanged = BodyOfMessage<typeof AccessChanged>;
