import type { AccessPolicy, CreationLimits } from '../../access.ts';
import { defineCall, json, object } from '../../call.ts';
import { type WebhookChoice, webhookChoiceSchema } from '../../webhook.ts';

/** The limits record without the one field that only the gateway knows. */
export type OwnLimits = Omit<CreationLimits, 'last_api_request_at'>;

/** 503 for a merchant that quota doesn't know yet. */
export const ReadLimits = defineCall('payments', 'GET /merchants/:merchant_id/limits', json<OwnLimits>(), {
  callers: ['api-gateway'],
  access: 'viewer',
  forMerchants: 'viewer',
});

/** The policy that payments enforces, and its counters. */
export type Gate = AccessPolicy & {
  webhook_ok: boolean;
  /** The value of `used_lifetime` when the current package began. */
  package_base: number;
  used_lifetime: number;
  /** The UTC day of `used_today`, `2026-01-31`, or null before the first payment. */
  used_day: string | null;
  used_today: number;
  /** At most a hundred; absent from a release without wallet proofs. */
  proven_wallets?: string[];
};

/** 404 while payments has no policy for the merchant. */
export const ReadGate = defineCall('payments', 'GET /merchants/:merchant_id/gate', json<Gate>(), { access: 'viewer' });

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
