import type { Author } from '@quittance/contracts/author.ts';
import { NetworkIncidents, PaymentIncidents } from '@quittance/contracts/http/incidents.ts';
import {
  incidentsTable,
  incidentView,
  listIncidents,
  ofNetworks,
  ofPayments,
  placeText,
  resolveIncident,
  type ListedIncident,
  type Place,
} from '@quittance/operator/incidents.ts';
import { PAGE } from '@quittance/operator/row.ts';
import { whatAnswers, type Api } from './api.ts';
import { Failure } from './failure.ts';
import { own, type Run } from './run.ts';
import { note, printResult } from './text.ts';

export const incidentRuns: readonly Run[] = [
  own(listIncidents, async ({ api, values: { all, before }, options, again }) => {
    const page = await readPage(api, all ? 'all' : 'open', before ?? { payments: null, 'chain-watcher': null });
    if (page.silent.length < 2) printResult(page, options, ({ incidents }) => [incidentsTable(incidents)]);
    if (page.next_before !== null) note(`There may be older ones: ${again({ before: page.next_before })}`, options);
    // What is missing must not look like nothing.
    if (page.silent.length > 0) throw new Failure('unreachable', page.silent.join('\n'));
  }),
  own(resolveIncident, async ({ api, values: { incident_id: id }, options, author }) =>
    printResult(await resolve(api, id, author()), options, incidentView),
  ),
];

/** The incidents of both services in one list, newest first, a hundred at a time. @param after the place where the page before ended. */
async function readPage(api: Api, status: 'open' | 'all', after: Place) {
  const query = (service: keyof Place) => ({ status, before: after[service] ?? undefined });
  const { answers, silent } = await whatAnswers({
    payments: api.call(PaymentIncidents.list, { query: query('payments') }),
    'chain-watcher': api.call(NetworkIncidents.list, { query: query('chain-watcher') }),
  });
  const lists = [
    (answers.payments?.incidents ?? []).map(ofPayments),
    (answers['chain-watcher']?.incidents ?? []).map(ofNetworks),
  ];
  return { ...mergeIncidents(lists, after), silent };
}

type Opened = { incident_id: string; opened_at: string; service: keyof Place };

/**
 * The newest hundred of several lists, each newest first. Each list continues after its own last incident that was shown, so that
 * none is left out or shown twice, however many were opened at the same time.
 * @returns `next_before`: what `--before` takes to go on; null at the end.
 */
export function mergeIncidents<Incident extends Opened>(
  lists: readonly (readonly Incident[])[],
  after: Place,
): { incidents: Incident[]; next_before: string | null } {
  const all = lists.flat();
  // Sorting keeps the order of equals, so each service's own order stays.
  const incidents = all
    .sort((a, b) => (a.opened_at < b.opened_at ? 1 : a.opened_at > b.opened_at ? -1 : 0))
    .slice(0, PAGE);
  const last = (of: keyof Place): string | null =>
    incidents.findLast(({ service }) => service === of)?.incident_id ?? after[of];
  const hasMore = all.length > PAGE || lists.some(({ length }) => length >= PAGE);
  const next = hasMore ? placeText({ payments: last('payments'), 'chain-watcher': last('chain-watcher') }) : null;
  return { incidents, next_before: next };
}

/** @throws Failure when no service has it, or when one that may have it does not answer. */
async function resolve(api: Api, id: string, author: Author): Promise<ListedIncident> {
  const given = { params: { incident_id: id }, author };
  // Only one of them knows the id, so it does no harm to ask both.
  const { answers, silent } = await whatAnswers({
    payments: api.find(PaymentIncidents.resolve, given),
    chain: api.find(NetworkIncidents.resolve, given),
  });
  if (answers.payments) return ofPayments(answers.payments);
  if (answers.chain) return ofNetworks(answers.chain);
  if (silent.length > 0) throw new Failure('unreachable', silent.join('\n'));
  throw new Failure('refused', 'Incident not found: neither payments nor chain-watcher has one of this id.');
}
