import { defineCall, json, object } from '../../call.ts';
import type { WebhookSettings } from '../../webhook.ts';

/** `signing_key` is there the first time only. */
export type ConfiguredWebhook = { url: string; key_id: string; signing_key?: string };

/** 422 for a URL that the policy refuses, 503 while names cannot be resolved. */
export const ConfigureWebhook = defineCall({
  owner: 'webhook-dispatcher',
  method: 'PUT',
  path: '/internal/v1/merchants/:merchant_id/webhook',
  body: object<{ url: string }>({ url: { type: 'string' } }),
  // The first answer shows the signing key, and a second one would not.
  idempotent: false,
  response: json<ConfiguredWebhook>(),
});

/** 404 before the first configuration. */
export const ReadWebhook = defineCall({
  owner: 'webhook-dispatcher',
  method: 'GET',
  path: '/internal/v1/merchants/:merchant_id/webhook',
  response: json<WebhookSettings>(),
});

/** 409 before the first configuration. */
export const RotateWebhookKey = defineCall({
  owner: 'webhook-dispatcher',
  method: 'POST',
  path: '/internal/v1/merchants/:merchant_id/webhook/rotate-key',
  response: json<{ key_id: string; signing_key: string }>(),
});
