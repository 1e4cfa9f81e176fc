import { WebhookConfigured } from '@quittance/contracts/messages/webhook-configured.ts';
import { type Handler, on } from '@quittance/messaging/consumer/handler.ts';
import { noteWebhook } from '../store/gate.ts';

/** Opens the gate's second bar: from now on the merchant has a webhook endpoint. */
export const webhookConfigured = (): Handler =>
  on(WebhookConfigured, 'webhook-configured', ({ merchant_id: merchantId }, { tx }) => noteWebhook(tx, merchantId));
