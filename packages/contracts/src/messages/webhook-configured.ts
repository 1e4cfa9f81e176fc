import { defineMessage, type BodyOfMessage } from '../message.ts';
import { fields } from './fields.ts';

/** A merchant has a webhook endpoint for the first time. Published by webhook-dispatcher, consumed by payments, which creates none without. */
export const WebhookConfigured = defineMessage({
  name: 'WebhookConfigured',
  version: 1,
  published_by: 'webhook-dispatcher',
  properties: {
    merchant_id: fields.merchantId,
    configured_at: fields.timestamp,
  },
});

export type WebhookConfigured = BodyOfMessage<typeof WebhookConfigured>;
