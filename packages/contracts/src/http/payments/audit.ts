import { json } from '../../call.ts';
import { auditCall, type AuditEntry } from '../audit.ts';

/** What operators did to a merchant's wallets, payments and incidents. */
export const ReadPaymentsAudit = auditCall('payments', json<{ entries: AuditEntry[] }>());
