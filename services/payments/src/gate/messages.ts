import { AccessChanged } from '@quittance/contracts/messages/access-changed.ts';
import { type Handler, on } from '@quittance/messaging/consumer/handler.ts';
import { applyPolicy, markWebhookConfigured } from './gate.sql.ts';
import { WebhookConfigured } from '@quittance/contracts/messages/webhook-configured.ts';

/** Keeps the newest policy in the gate. It waits for a running creation and is in force for every later one. */
export const accessChanged = (): Handler =>
  on(AccessChanged, 'access-changed', (policy, { tx }) => applyPolicy(tx, policy));

/**
 * Lets the merchant create payments without "webhook missing": an endpoint can be changed, never removed. Also keeps what it chose to be
 * told.
 */
export const webhookConfigured = (): Handler =>
  on(WebhookConfigured, 'webhook-configured', ({ merchant_id: merchantId, events, version }, { tx }) =>
    markWebhookConfigured(tx, merchantId, events === undefined || version === undefined ? null : { events, version }),
  );
