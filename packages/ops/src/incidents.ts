import type { Api } from './api.ts';
import { whatAnswers } from './api.ts';
import { Failure } from './failure.ts';
import type { Incident, Resolution } from './views/incident.ts';

/** From payments, about a payment: the transfer that paid it is gone. */
type PaymentIncident = Incident & { service: 'payments'; about: 'payment' };

/** From chain-watcher, about a network. `times`: how often its cause has shown itself. */
type NetworkIncident = Pick<Incident, 'incident_id' | 'kind' | 'network' | 'opened_at' | keyof Resolution> & {
  service: 'chain-watcher';
  about: 'network';
  detail: Record<string, unknown>;
  times: number;
  last_seen_at: string;
};

/** An incident, the service that keeps it and what it is about. */
export type ListedIncident = PaymentIncident | NetworkIncident;

const services = ['payments', 'chain-watcher'] as const;
type IncidentService = (typeof services)[number];

/** Where a page ended: the last incident shown of each service, in the order of `services`; null before the first. */
export type Place = Record<IncidentService, string | null>;

const PAGE = 100;
const beginning: Place = { payments: null, 'chain-watcher': null };

export type IncidentPage = {
  incidents: ListedIncident[];
  /** What `--before` takes to go on; null at the end. */
  next_before: string | null;
  /** What to say of each service that did not answer, whose incidents are missing. */
  silent: string[];
};

/** The incidents of both services in one list, newest first, a hundred at a time. @param after the place where the page before ended. */
export async function readIncidentPage(api: Api, status: 'open' | 'all', after: Place | null): Promise<IncidentPage> {
  const place = after ?? beginning;
  const asked = services.map((service) => {
    const before = place[service];
    const query = { status, ...(before !== null && { before }) };
    const answer = api.call(service, { method: 'GET', path: '/incidents', query });
    return [service, answer.then((page) => (page as { incidents: object[] }).incidents)] as const;
  });
  const { answers, silent } = await whatAnswers(Object.fromEntries(asked));
  const lists = answers as Partial<Record<IncidentService, object[]>>;
  return { ...mergeIncidents(lists, place), silent };
}

/**
 * The newest hundred of several lists, each newest first. Each list is gone on with after its own last incident that was shown, so that
 * none is left out or shown twice, however many were opened in one moment.
 */
export function mergeIncidents(
  lists: Partial<Record<IncidentService, object[]>>,
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
export async function resolveIncident(
  api: Api,
  id: string,
  author: { actor: string; reason: string },
): Promise<ListedIncident> {
  const request = { method: 'POST', path: `/incidents/${id}/resolve`, json: author } as const;
  // Only one of them knows the id, so it does no harm to ask both.
  const asked = services.map((service) => [service, api.callOrNull(service, request)] as const);
  const { answers, silent } = await whatAnswers(Object.fromEntries(asked));
  const service = services.find((name) => answers[name] !== undefined && answers[name] !== null);
  if (service !== undefined) return withOrigin(service, answers[service] as object);
  if (silent.length > 0) throw new Failure('unreachable', silent.join('\n'));
  throw new Failure('refused', 'Incident not found: neither payments nor chain-watcher has one of this id.');
}

const withOrigin = (service: IncidentService, row: object): ListedIncident =>
  ({ ...row, service, about: service === 'payments' ? 'payment' : 'network' }) as ListedIncident;

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const NONE = 'none';

const placeText = (place: Place): string => services.map((service) => place[service] ?? NONE).join(',');

/** @returns null for what is no place. */
export function parsePlace(text: string): Place | null {
  const [, payments, chain] = new RegExp(`^(${UUID}|${NONE}),(${UUID}|${NONE})$`).exec(text) ?? [];
  if (payments === undefined || chain === undefined) return null;
  return { payments: payments === NONE ? null : payments, 'chain-watcher': chain === NONE ? null : chain };
}

export const isIncidentId = (text: string): boolean => new RegExp(`^${UUID}$`).test(text);
