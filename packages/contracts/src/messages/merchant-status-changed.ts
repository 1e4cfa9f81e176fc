import { defineMessage } from '../message.ts';
import { fields } from './fields.ts';

/**
 * The whole account of a merchant was blocked or unblocked.
 * Published by api-gateway; consumed by quota (nothing new is created) and webhook-dispatcher (deliveries are held).
 */
export type MerchantStatusChanged = {
  merchant_id: string;
  status: 'active' | 'blocked';
  /** Grows with each change of this merchant; a lower one is old news. */
  status_version: number;
  changed_at: string;
};

export const MerchantStatusChanged = defineMessage<MerchantStatusChanged>({
  name: 'MerchantStatusChanged',
  version: 1,
  published_by: 'api-gateway',
  properties: {
    merchant_id: fields.merchantId,
    status: { type: 'string', enum: ['active', 'blocked'] },
    status_version: fields.version,
    changed_at: fields.timestamp,
  },
});
