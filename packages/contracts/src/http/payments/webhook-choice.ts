import { defineCall, json, object } from '../../call.ts';
import { type WebhookChoice, webhookChoiceSchema } from '../../webhook.ts';

/** What a merchant chose to be told, and the version of its endpoint that this belongs to. */
export type VersionedChoice = { events: WebhookChoice[]; version: number };

/**
 * Has payments know a merchant's new choice now. The message about it follows in any case; an older version than the one known changes
 * nothing.
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
