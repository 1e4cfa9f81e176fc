import { AccessChanged, WebhookConfigured } from '@quittance/contracts/messages.ts';
import { type Handler, on } from '@quittance/messaging/consumer/handler.ts';
import { applyPolicy, markWebhookConfigured } from './gate.sql.ts';

/** Stores the newest policy in the gate. It waits for a running creation and applies to every later one. */
export const accessChanged = (): Handler =>
  on(AccessChanged, 'access-changed', (policy, { tx }) => applyPolicy(tx, policy));

/**
 * Allows the merchant to create payments without "webhook missing": an endpoint can be changed, never removed. Also stores which events it
 * subscribes to.
 */
export const webhookConfigured = (): Handler =>
  on(WebhookConfigured, 'webhook-configured', ({ merchant_id: merchantId, events, version }, { tx }) =>
    markWebhookConfigured(tx, merchantId, events === undefined || version === undefined ? null : { events, version }),
  );
