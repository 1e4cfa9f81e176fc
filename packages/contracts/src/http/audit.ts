import { defineCall, type Json, json } from '../call.ts';
import { query } from '../query.ts';
import type { ServiceName } from '../service-name.ts';

/** Who did what to a merchant, when and why. */
export type AuditEntry = {
  at: string;
  action: string;
  actor: string;
  /** Null for changes by the merchant itself. */
  reason: string | null;
  /** The changed fields. `before` is null for a first entry; both are null if only the action matters. */
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
};

/**
 * A service's audit log of a merchant: the newest hundred entries, before a time if one is given. Empty for an unknown
 * merchant, except in api-gateway, which knows every merchant and answers 404.
 */
export const auditCall = <Response>(owner: ServiceName, response: Json<Response>) =>
  defineCall(owner, 'GET /merchants/:merchant_id/audit', response, {
    access: 'viewer',
    query: { before: query.timestamp },
  });

/** The fields that differ, one line each. The merchant's id and version counters are not changes. */
export function changedFields({
  before,
  after,
}: Pick<AuditEntry, 'before' | 'after'>): { field: string; from: unknown; to: unknown }[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .filter((name) => !['merchant_id', 'policy_version', 'status_version'].includes(name))
    .map((field) => ({ field, from: before?.[field] ?? null, to: after?.[field] ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}

/** What operators did to a merchant's wallets, payments and incidents. */
export const ReadPaymentsAudit = auditCall('payments', json<{ entries: AuditEntry[] }>());

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
