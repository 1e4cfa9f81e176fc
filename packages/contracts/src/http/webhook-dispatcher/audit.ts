import { auditCall, type AuditEntry } from '../audit.ts';

/** What was done to a merchant's endpoint, keys and events, by itself or by an operator. */
export const ReadWebhookAudit = auditCall<Omit<AuditEntry, 'before' | 'after'> & { event_id: string | null }>(
  'webhook-dispatcher',
);
