import type { Api } from './api.ts';
import { whatAnswers } from './api.ts';
import type { Service } from './config.ts';

/** Who did what to a merchant, when and why, and what that changed. `before` is null for a beginning, both are null where only the deed counts. */
export type AuditEntry = {
  at: string;
  /** The service that wrote it down. */
  service: Service;
  action: string;
  actor: string;
  /** A merchant gives no reasons. */
  reason: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
};

/** What one service has. It answers its newest hundred, those before a moment if one is given. */
type Source = { service: Service; path: string; read: (answer: never) => AuditEntry[] };

const PAGE = 100;

/** Of the account in api-gateway, and of wallets, transfers and incidents in payments. */
type OwnAudit = { entries: Omit<AuditEntry, 'service'>[] };
type PolicyAudit = { changes: (Omit<AuditEntry, 'service' | 'at'> & { changed_at: string })[] };
type WebhookAudit = { entries: (Omit<AuditEntry, 'service' | 'before' | 'after'> & { event_id: string | null })[] };

/** Four services keep one each, because an audit row belongs in the transaction of what it tells of. */
const sources: Source[] = [
  {
    service: 'api-gateway',
    path: 'audit',
    read: ({ entries }: OwnAudit) => entries.map((entry) => ({ ...entry, service: 'api-gateway' })),
  },
  {
    service: 'quota',
    path: 'audit',
    read: ({ changes }: PolicyAudit) =>
      changes.map(({ changed_at, action, actor, reason, before, after }) => ({
        ...{ at: changed_at, service: 'quota', action, actor, reason, before, after },
      })),
  },
  {
    service: 'webhook-dispatcher',
    path: 'audit',
    read: ({ entries }: WebhookAudit) =>
      entries.map(({ event_id, ...entry }) => ({
        ...{ ...entry, service: 'webhook-dispatcher', before: null, after: event_id === null ? null : { event_id } },
      })),
  },
  {
    service: 'payments',
    path: 'audit',
    read: ({ entries }: OwnAudit) => entries.map((entry) => ({ ...entry, service: 'payments' })),
  },
];

/**
 * Everything that was done to a merchant, newest first.
 * @param before only what was done before this moment, RFC 3339.
 * @returns `next_before` asks for the page after this one; null when there is none. `silent` says which services did not answer.
 * @throws Failure `refused` for an unknown merchant.
 */
export async function readAudit(api: Api, merchantId: string, before: string | undefined) {
  const query: Record<string, string> = before === undefined ? {} : { before };
  const asked = sources.map(({ service, path, read }) => {
    // Who exists is api-gateway's to say; another service may not have heard of the merchant yet.
    const full = `/merchants/${merchantId}/${path}`;
    const answer =
      service === 'api-gateway'
        ? api.call(service, { method: 'GET', path: full, query })
        : api.find(service, full, query);
    return [service, answer.then((found) => (found === null ? [] : read(found as never)))] as const;
  });
  const { answers, silent } = await whatAnswers(Object.fromEntries(asked));
  return { ...mergePages(Object.values(answers) as AuditEntry[][]), silent };
}

/**
 * One page of several lists, each newest first. Where a list fills its page there may be older entries, even of the same moment as
 * its last one; so everything as old as that waits for the next page, and none is left out between two pages.
 */
export function mergePages(lists: readonly AuditEntry[][]): { entries: AuditEntry[]; next_before: string | null } {
  const ends = lists.filter((list) => list.length >= PAGE).map((list) => list.at(-1)?.at ?? '');
  const cut = ends.sort().at(-1) ?? '';
  const entries = lists
    .flat()
    .filter(({ at }) => at > cut)
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  return { entries, next_before: cut === '' ? null : (entries.at(-1)?.at ?? cut) };
}

/** The fields that differ, one line each. What identifies the merchant or counts versions is no change of its own. */
export function changedFields({ before, after }: AuditEntry): { field: string; from: unknown; to: unknown }[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .filter((name) => !['merchant_id', 'policy_version', 'status_version'].includes(name))
    .map((field) => ({ field, from: before?.[field] ?? null, to: after?.[field] ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}
