import { defineMessage, type BodyOfMessage } from '../message.ts';
import { webhookChoiceSchema } from '../webhook.ts';
import { fields } from './fields.ts';

/**
 * A merchant has a webhook endpoint for the first time, or chooses anew what it is told. Published by webhook-dispatcher, consumed by
 * payments, which creates no payment without an endpoint and publishes NoticeRaised only for what was chosen.
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
    /** Of the endpoint; grows with each change. A choice of a lower version than one that is known is outdated. */
    version: fields.version,
  },
});

export type WebhookConfigured = BodyOfMessage<typeof WebhookConfigured>;
