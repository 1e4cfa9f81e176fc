import { defineCall, json, object } from '../../call.ts';
import type { WebhookSettings } from '../../webhook.ts';

/** `signing_key` is there the first time only. */
export type ConfiguredWebhook = { url: string; key_id: string; signing_key?: string };

/** 422 for a URL that the policy refuses, 503 while names cannot be resolved. */
export const ConfigureWebhook = defineCall(
  'webhook-dispatcher',
  'PUT /merchants/:merchant_id/webhook',
  json<ConfiguredWebhook>(),
  {
    body: json<{ url: string }>({ ...object({ url: { type: 'string' } }).schema, additionalProperties: false }),
    // The first answer shows the signing key, and a second one would not.
    idempotent: false,
  },
);

/** 404 before the first configuration. */
export const ReadWebhook = defineCall(
  'webhook-dispatcher',
  'GET /merchants/:merchant_id/webhook',
  json<WebhookSettings>(),
);

/** 409 before the first configuration. */
export const RotateWebhookKey = defineCall(
  'webhook-dispatcher',
  'POST /merchants/:merchant_id/webhook/rotate-key',
  json<{ key_id: string; signing_key: string }>(),
);
