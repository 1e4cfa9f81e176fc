import { json } from '../../call.ts';
import { auditCall, type AuditEntry } from '../audit.ts';

/**
 * `events`: the events that the merchant subscribed to from then on; empty if the entry isn't about that.
 * `private_target`: the `address:port` in a private network to which the endpoint's host was mapped; null for a public
 * one.
 */
export type WebhookAuditEntry = Omit<AuditEntry, 'before' | 'after'> & {
  event_id: string | null;
  events: string[];
  private_target: string | null;
};

/** Changes of a merchant's endpoint, keys and events, by the merchant or an operator. */
export const ReadWebhookAudit = auditCall('webhook-dispatcher', json<{ entries: WebhookAuditEntry[] }>());
