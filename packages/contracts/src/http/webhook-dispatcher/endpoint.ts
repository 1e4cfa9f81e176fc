import { defineCall, json, object } from '../../call.ts';
import { type ErrorCategory, type WebhookChoice, webhookChoiceSchema, type WebhookSettings } from '../../webhook.ts';

/** `signing_key` is present only the first time. `version` grows with every change of the endpoint. */
export type ConfiguredWebhook = {
  url: string;
  key_id: string;
  events: WebhookChoice[];
  version: number;
  signing_key?: string;
};

type Configuration = { url: string; events?: WebhookChoice[] };

/**
 * Without `events`: PAID the first time, later unchanged. 422 for a URL that the policy refuses; 503 while host names
 * can't be resolved.
 */
export const ConfigureWebhook = defineCall(
  'webhook-dispatcher',
  'PUT /merchants/:merchant_id/webhook',
  json<ConfiguredWebhook>(),
  {
    callers: ['api-gateway'],
    body: json<Configuration>({
      ...object<Configuration>({ url: { type: 'string' }, events: webhookChoiceSchema }, { optional: ['events'] })
        .schema,
      additionalProperties: false,
    }),
    // Only the first answer contains the signing key.
    idempotent: false,
  },
);

/** 404 before the first configuration. `version` as above. */
export const ReadWebhook = defineCall(
  'webhook-dispatcher',
  'GET /merchants/:merchant_id/webhook',
  json<WebhookSettings & { version: number }>(),
  { callers: ['api-gateway', 'payments'], access: 'viewer', forMerchants: 'viewer' },
);

/** 409 before the first configuration. */
export const RotateWebhookKey = defineCall(
  'webhook-dispatcher',
  'POST /merchants/:merchant_id/webhook/rotate-key',
  json<{ key_id: string; signing_key: string }>(),
  { callers: ['api-gateway'] },
);

/** Calls of the notifier, which can point a merchant's endpoint only to itself. 404 while WEBHOOK_NOTIFIER is not set. */
type NotifierKey = { key_id: string; signing_key: string };

/** Makes the notifier the merchant's endpoint for paid payments and unmatched transfers, with a new signing key. */
export const ConnectNotices = defineCall(
  'webhook-dispatcher',
  'PUT /merchants/:merchant_id/webhook/notices',
  json<NotifierKey>(),
  // Only the answer contains the signing key.
  { callers: ['notifier'], authored: true, idempotent: false },
);

/**
 * A new signing key for the notifier, if the endpoint's key was replaced by another caller. 409 unless the notifier is
 * the merchant's endpoint and `replaces` is not its own key but the endpoint's.
 */
export const RenewNoticesKey = defineCall(
  'webhook-dispatcher',
  'POST /merchants/:merchant_id/webhook/notices/key',
  json<NotifierKey>(),
  { callers: ['notifier'], body: object<{ replaces: string }>({ replaces: { type: 'string' } }) },
);

/** The result of the one attempt to send a test event. */
export type TestedWebhook = {
  event_id: string;
  delivered: boolean;
  http_status: number | null;
  error_category: ErrorCategory | null;
  duration_ms: number;
};

/**
 * Takes as long as the attempt, up to fifteen seconds. 409 before the first configuration; 503 while too many others
 * are tested.
 */
export const TestWebhook = defineCall(
  'webhook-dispatcher',
  'POST /merchants/:merchant_id/webhook/test',
  json<TestedWebhook>(),
  { callers: ['api-gateway'] },
);
