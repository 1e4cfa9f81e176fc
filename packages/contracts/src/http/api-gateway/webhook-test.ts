import { defineCall, json } from '../../call.ts';
import type { TestedWebhook } from '../webhook-dispatcher/endpoint.ts';

/**
 * A test event on the word of a merchant's person: as the merchant's own program may ask for one, it counts with webhook settings (429), and
 * the audit names the person. 409 before the first configuration, 503 while too many others are tested.
 */
export const TestWebhookAsPerson = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/webhook-test',
  json<TestedWebhook>(),
  { authored: true, forMerchants: true },
);
