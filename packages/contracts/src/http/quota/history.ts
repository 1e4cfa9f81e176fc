import { defineCall, json } from '../../call.ts';
import { query } from '../../query.ts';
import { auditCall, type AuditEntry } from '../audit.ts';

export type PolicyChange = Omit<AuditEntry, 'at'> & { policy_version: number; changed_at: string };

/** Changes of the policy. `before` is null for the registration. 404 for an unknown merchant. */
export const ReadPolicyAudit = auditCall('quota', json<{ changes: PolicyChange[] }>());

/** Payments created on a UTC day, `2026-01-31`. */
export type UsageDay = { day: string; payments_created: number };

/** The newest hundred days with a created payment, before a day if one is given. 404 for an unknown merchant. */
export const ReadUsage = defineCall('quota', 'GET /merchants/:merchant_id/usage', json<{ days: UsageDay[] }>(), {
  access: 'viewer',
  forMerchants: true,
  query: { before: query.day },
});
