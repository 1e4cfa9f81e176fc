import { defineCall, json } from '../../call.ts';
import type { FailedEvent } from './events.ts';
import type { Lane } from './lanes.ts';

/**
 * The state of a merchant's webhooks as the merchant sees it: both of its queues, and the oldest hundred of its failed
 * events.
 */
export type WebhookHealth = { lanes: Omit<Lane, 'private_target'>[]; failed: { events: FailedEvent[]; total: number } };

export const ReadWebhookHealth = defineCall(
  'webhook-dispatcher',
  'GET /merchants/:merchant_id/webhook/health',
  json<WebhookHealth>(),
  { access: 'viewer', forMerchants: true },
);
