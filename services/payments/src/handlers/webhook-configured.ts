import { WebhookConfigured } from '@quittance/contracts/messages/webhook-configured.ts';
import { type Handler, on } from '@quittance/messaging/consumer/handler.ts';
import { markWebhookConfigured } from '../store/gate.ts';

/** Lets the merchant create payments without "webhook missing": an endpoint can be changed, never removed. */
export const webhookConfigured = (): Handler =>
  on(WebhookConfigured, 'webhook-configured', ({ merchant_id: merchantId }, { tx }) =>
    markWebhookConfigured(tx, merchantId),
  );
