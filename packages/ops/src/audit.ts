import { ReadMerchantAudit } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { changedFields, type AuditEntry as ServiceEntry } from '@quittance/contracts/http/audit.ts';
import { ReadPaymentsAudit } from '@quittance/contracts/http/payments/audit.ts';
import { ReadPolicyAudit } from '@quittance/contracts/http/quota/history.ts';
import { ReadWebhookAudit } from '@quittance/contracts/http/webhook-dispatcher/audit.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { whatAnswers, type Api } from './api.ts';
import { PAGE } from './output.ts';
import { table, type Cell, type Columns } from './text.ts';

/** An entry and the service that wrote it down. */
export type AuditEntry = ServiceEntry & { service: ServiceName };

/**
 * Everything that was done to a merchant, newest first. Four services keep an audit each, because an audit row belongs in the
 * transaction of the change it is about.
 * @param before only what was done before this time, RFC 3339.
 * @returns `next_before` asks for the page after this one; null when there is none. `silent` names the services that did not answer.
 * @throws Failure `refused` for an unknown merchant.
 */
export async function readAudit(api: Api, merchantId: string, before: string | undefined) {
  const asked = { params: { merchant_id: merchantId }, query: { before } };
  const { answers, silent } = await whatAnswers({
    // Only api-gateway knows every merchant; another service may not know it yet.
    gateway: api.call(ReadMerchantAudit, asked),
    quota: api.find(ReadPolicyAudit, asked),
    webhooks: api.find(ReadWebhookAudit, asked),
    payments: api.find(ReadPaymentsAudit, asked),
  });
  const lists = [
    entriesOf('api-gateway', answers.gateway),
    (answers.quota?.changes ?? []).map(({ changed_at: at, action, actor, reason, before: found, after }) => ({
      at,
      service: 'quota' as const,
      action,
      actor,
      reason,
      before: found,
      after,
    })),
    (answers.webhooks?.entries ?? []).map(({ event_id, events, private_target, ...entry }) => ({
      ...entry,
      service: 'webhook-dispatcher' as const,
      before: null,
      after:
        event_id !== null
          ? { event_id }
          : events.length > 0
            ? { events, ...(private_target && { private_target }) }
            : null,
    })),
    entriesOf('payments', answers.payments),
  ];
  return { ...mergePages(lists), silent };
}

const entriesOf = (service: ServiceName, page: { entries: ServiceEntry[] } | undefined | null): AuditEntry[] =>
  (page?.entries ?? []).map((entry) => ({ ...entry, service }));

/**
 * One page of several lists, each newest first. Where a list fills its page there may be older entries, even of the same time as
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

/** One line for each field that changed; who, when and why stand on the first line of an entry. */
export function auditView({ entries }: { entries: readonly AuditEntry[] }): string {
  return table(entries.flatMap(linesOf), columns);
}

type Line = { entry: AuditEntry | null; field: string | null; from: unknown; to: unknown };

function linesOf(entry: AuditEntry): Line[] {
  const [first = { field: null, from: null, to: null }, ...others] = changedFields(entry);
  return [{ entry, ...first }, ...others.map((line) => ({ entry: null, ...line }))];
}

const columns: Columns<Line> = {
  when: ({ entry }) => (entry === null ? '' : entry.at),
  who: ({ entry }) => (entry === null ? '' : entry.actor),
  // Some services write their words with a hyphen, some with an underscore.
  what: ({ entry }) => (entry === null ? '' : entry.action.replaceAll(/[_-]/g, ' ')),
  field: ({ field }) => field ?? '',
  before: ({ field, from }) => (field === null ? '' : toCell(from)),
  after: ({ field, to }) => (field === null ? '' : toCell(to)),
  why: ({ entry }) => (entry === null ? '' : entry.reason),
};

const toCell = (value: unknown): Cell => (value === null || typeof value === 'string' ? value : JSON.stringify(value));
