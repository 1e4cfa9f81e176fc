import { defineCall, json, object } from '../../call.ts';
import { type WebhookChoice, webhookChoiceSchema } from '../../webhook.ts';

/** The events that a merchant subscribed to, and the version of its endpoint with this choice. */
export type VersionedChoice = { events: WebhookChoice[]; version: number };

/**
 * Notifies payments of a merchant's new choice immediately. The message about it follows in any case. A version older
 * than the known one changes nothing.
 */
export const ApplyWebhookChoice = defineCall(
  'payments',
  'PUT /merchants/:merchant_id/webhook-choice',
  json<Record<string, never>>(),
  {
    callers: ['api-gateway'],
    body: object<VersionedChoice>({ events: webhookChoiceSchema, version: { type: 'integer', minimum: 1 } }),
  },
);
