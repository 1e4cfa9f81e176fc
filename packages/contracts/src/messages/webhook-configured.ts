import { defineMessage } from '../message.ts';
import { fields } from './fields.ts';

/** A merchant has a webhook endpoint for the first time. Published by webhook-dispatcher, consumed by payments, which creates none without. */
export type WebhookConfigured = { merchant_id: string; configured_at: string };

export const WebhookConfigured = defineMessage<WebhookConfigured>({
  name: 'WebhookConfigured',
  version: 1,
  published_by: 'webhook-dispatcher',
  properties: { merchant_id: fields.merchantId, configured_at: fields.timestamp },
});
