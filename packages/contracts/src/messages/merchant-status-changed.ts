import { defineMessage, type BodyOfMessage } from '../message.ts';
import { fields } from './fields.ts';

/**
 * The whole account of a merchant was blocked or unblocked.
 * Published by api-gateway; consumed by quota (nothing new is created) and webhook-dispatcher (deliveries are held).
 */
export const MerchantStatusChanged = defineMessage({
  name: 'MerchantStatusChanged',
  version: 1,
  published_by: 'api-gateway',
  properties: {
    merchant_id: fields.merchantId,
    status: { type: 'string', enum: ['active', 'blocked'] },
    /** Grows with each change of this merchant. A lower version is outdated. */
    status_version: fields.version,
    changed_at: fields.timestamp,
  },
});

export type MerchantStatusChanged = BodyOfMessage<typeof MerchantStatusChanged>;
