import type { Author } from '@quittance/contracts/author.ts';
import { NetworkIncidents, type NetworkIncident } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { isIncidentId } from '@quittance/contracts/http/incidents.ts';
import { PaymentIncidents, type PaymentIncident } from '@quittance/contracts/http/payments/incidents.ts';
import { whatAnswers, type Api } from './api.ts';
import { Failure } from './failure.ts';
import { PAGE } from './output.ts';

/** An incident, the service that keeps it and what it is about. */
export type ListedIncident =
  | (PaymentIncident & { service: 'payments'; about: 'payment' })
  | (NetworkIncident & { service: 'chain-watcher'; about: 'network' });

const services = ['payments', 'chain-watcher'] as const;
type IncidentService = (typeof services)[number];

/** Where a page ended: the last incident shown of each service, in the order of `services`; null before the first. */
export type Place = Record<IncidentService, string | null>;

const beginning: Place = { payments: null, 'chain-watcher': null };

export type IncidentPage = {
  incidents: ListedIncident[];
  /** What `--before` takes to go on; null at the end. */
  next_before: string | null;
  /** A message about each service that did not answer, whose incidents are missing. */
  silent: string[];
};

/** The incidents of both services in one list, newest first, a hundred at a time. @param after the place where the page before ended. */
export async function readIncidentPage(api: Api, status: 'open' | 'all', after: Place | null): Promise<IncidentPage> {
  const place = after ?? beginning;
  const query = (service: IncidentService) => ({ status, before: place[service] ?? undefined });
  const { answers, silent } = await whatAnswers({
    payments: api.call(PaymentIncidents.list, { query: query('payments') }),
    'chain-watcher': api.call(NetworkIncidents.list, { query: query('chain-watcher') }),
  });
  const lists = { payments: answers.payments?.incidents, 'chain-watcher': answers['chain-watcher']?.incidents };
  return { ...mergeIncidents(lists, place), silent };
}

/**
 * The newest hundred of several lists, each newest first. Each list continues after its own last incident that was shown, so that
 * none is left out or shown twice, however many were opened at the same time.
 */
export function mergeIncidents(
  lists: { [service in IncidentService]?: object[] | undefined },
  place: Place,
): Omit<IncidentPage, 'silent'> {
  const all = services.flatMap((service) => (lists[service] ?? []).map((row) => withOrigin(service, row)));
  // Sorting keeps the order of equals, so each service's own order stays.
  const incidents = all
    .sort((a, b) => (a.opened_at < b.opened_at ? 1 : a.opened_at > b.opened_at ? -1 : 0))
    .slice(0, PAGE);
  const last = (service: IncidentService): string | null =>
    incidents.findLast((incident) => incident.service === service)?.incident_id ?? place[service];
  const hasMore = all.length > PAGE || services.some((service) => (lists[service] ?? []).length >= PAGE);
  return {
    incidents,
    next_before: hasMore ? placeText({ payments: last('payments'), 'chain-watcher': last('chain-watcher') }) : null,
  };
}

/** @throws Failure when no service has it, or when one that may have it does not answer. */
export async function resolveIncident(api: Api, id: string, author: Author): Promise<ListedIncident> {
  const given = { params: { incident_id: id }, author };
  // Only one of them knows the id, so it does no harm to ask both.
  const { answers, silent } = await whatAnswers({
    payments: api.find(PaymentIncidents.resolve, given),
    'chain-watcher': api.find(NetworkIncidents.resolve, given),
  });
  for (const service of services) {
    const incident = answers[service] ?? null;
    if (incident !== null) return withOrigin(service, incident);
  }
  if (silent.length > 0) throw new Failure('unreachable', silent.join('\n'));
  throw new Failure('refused', 'Incident not found: neither payments nor chain-watcher has one of this id.');
}

const withOrigin = (service: IncidentService, row: object): ListedIncident =>
  ({ ...row, service, about: service === 'payments' ? 'payment' : 'network' }) as ListedIncident;

const NONE = 'none';

const placeText = (place: Place): string => services.map((service) => place[service] ?? NONE).join(',');

/** @returns null for what is no place. */
export function parsePlace(text: string): Place | null {
  const [payments = '', chain = '', ...more] = text.split(',');
  if (more.length > 0 || ![payments, chain].every((id) => id === NONE || isIncidentId(id))) return null;
  return { payments: payments === NONE ? null : payments, 'chain-watcher': chain === NONE ? null : chain };
}
