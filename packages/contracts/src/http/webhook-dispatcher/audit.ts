import { json } from '../../call.ts';
import { auditCall, type AuditEntry } from '../audit.ts';

export type WebhookAuditEntry = Omit<AuditEntry, 'before' | 'after'> & { event_id: string | null };

/** What was done to a merchant's endpoint, keys and events, by itself or by an operator. */
export const ReadWebhookAudit = auditCall('webhook-dispatcher', json<{ entries: WebhookAuditEntry[] }>());
