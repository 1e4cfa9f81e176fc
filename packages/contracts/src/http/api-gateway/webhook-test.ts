import { defineCall, json } from '../../call.ts';
import type { TestedWebhook } from '../webhook-dispatcher/endpoint.ts';

/**
 * A test event requested by a merchant's person. It has the same conditions as one requested by the merchant's program,
 * counts towards the limit of webhook settings (429), and the audit log names the person. 409 before the first
 * configuration; 503 while too many others are tested.
 */
export const TestWebhookAsPerson = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/webhook-test',
  json<TestedWebhook>(),
  { authored: true, forMerchants: 'viewer' },
);
