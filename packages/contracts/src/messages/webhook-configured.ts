import { defineMessage, type BodyOfMessage } from '../message.ts';
import { webhookChoiceSchema } from '../webhook.ts';
import { fields } from './fields.ts';

/**
 * A merchant configured its first webhook endpoint, or changed the events it subscribes to. Published by
 * webhook-dispatcher, consumed by payments, which creates no payment without an endpoint and publishes NoticeRaised
 * only for subscribed events.
 */
export const WebhookConfigured = defineMessage({
  name: 'WebhookConfigured',
  version: 1,
  published_by: 'webhook-dispatcher',
  properties: {
    merchant_id: fields.merchantId,
    configured_at: fields.timestamp,
  },
  optional: {
    events: webhookChoiceSchema,
    /** The endpoint's version; grows with each change. A choice with a version lower than the known one is outdated. */
    version: fields.version,
  },
});

export type WebhookConfigured = BodyOfMessage<typeof WebhookConfigured>;
