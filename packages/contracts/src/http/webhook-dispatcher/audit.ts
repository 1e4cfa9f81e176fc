import { json } from '../../call.ts';
import { auditCall, type AuditEntry } from '../audit.ts';

/**
 * `events`: what the merchant chose to be told from then on; empty where the entry is not about that. `private_target`: the
 * `address:port` in a private network that the endpoint's host stood for; null for a public one.
 */
export type WebhookAuditEntry = Omit<AuditEntry, 'before' | 'after'> & {
  event_id: string | null;
  events: string[];
  private_target: string | null;
};

/** What was done to a merchant's endpoint, keys and events, by itself or by an operator. */
export const ReadWebhookAudit = auditCall('webhook-dispatcher', json<{ entries: WebhookAuditEntry[] }>());
