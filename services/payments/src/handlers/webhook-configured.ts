import { WebhookConfigured } from '@quittance/contracts/messages/webhook-configured.ts';
import { type Handler, on } from '@quittance/messaging/consumer/handler.ts';
import { markWebhookConfigured } from '../store/gate.ts';

/**
 * Lets the merchant create payments without "webhook missing": an endpoint can be changed, never removed. Also keeps what it chose to be
 * told.
 */
export const webhookConfigured = (): Handler =>
  on(WebhookConfigured, 'webhook-configured', ({ merchant_id: merchantId, events, version }, { tx }) =>
    markWebhookConfigured(tx, merchantId, events === undefined || version === undefined ? null : { events, version }),
  );
