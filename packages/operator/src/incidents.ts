import {
  type NetworkIncident,
  isIncidentId,
  PaymentIncidents,
  type PaymentIncident,
} from '@quittance/contracts/http/incidents.ts';
import { flag, option, word, Wrong } from './field.ts';
import { ownRow } from './row.ts';
import { shortTime, table, words, type Value, type View } from './view.ts';

/** An incident, the service that keeps it and what it is about. */
export type ListedIncident =
  | (PaymentIncident & { service: 'payments'; about: 'payment' })
  | (NetworkIncident & { service: 'chain-watcher'; about: 'network' });

export const ofPayments = (incident: PaymentIncident): ListedIncident => ({
  ...{ ...incident, service: 'payments', about: 'payment' },
});
export const ofNetworks = (incident: NetworkIncident): ListedIncident => ({
  ...{ ...incident, service: 'chain-watcher', about: 'network' },
});

/** Where a page ended: the last incident shown of each service, in the order of `places`; null before the first. */
export type Place = { payments: string | null; 'chain-watcher': string | null };

const NONE = 'none';

export const placeText = (place: Place): string =>
  [place.payments, place['chain-watcher']].map((id) => id ?? NONE).join(',');

/** @returns null for what is no place. */
export function parsePlace(text: string): Place | null {
  const [payments = '', chain = '', ...more] = text.split(',');
  if (more.length > 0 || ![payments, chain].every((id) => id === NONE || isIncidentId(id))) return null;
  return { payments: payments === NONE ? null : payments, 'chain-watcher': chain === NONE ? null : chain };
}

export const listIncidents = ownRow('incident list', PaymentIncidents.list.access, {
  does: 'list the newest hundred open incidents, about payments and about networks',
  more:
    '--json has all details of each: blocks, hashes, transfers, the endpoints that were asked, and `next_before` for the next page. When payments or chain-watcher does not answer, ' +
    'the list has the incidents of the other one, names the service that did not answer, and the exit code is 3.',
  fields: {
    all: flag('--all', 'resolved ones as well'),
    before: option(
      '--before <place>',
      (text) => {
        const place = parsePlace(text);
        if (place !== null) return place;
        throw new Wrong('expected what the page before ended with: two incident ids with a comma between them.');
      },
      'go on after a page, with what that page ended with',
    ),
  },
});

export const resolveIncident = ownRow('incident resolve', PaymentIncidents.resolve.access, {
  audited: true,
  does: 'record that a person has dealt with an incident; nothing else changes',
  fields: {
    incident_id: word(
      'incident',
      (text) => {
        if (isIncidentId(text)) return text;
        throw new Wrong('expected an id such as 5f0c7a7e-3f4e-4c1e-9a57-0d6f0c9b1f2a.');
      },
      'incident id',
    ),
  },
  page: { path: '/incidents/:about/:incident_id/resolve', label: 'Resolve', back: '/incidents/:about/:incident_id' },
});

/** What each kind means, for the page of operators. */
export const incidentKinds: Record<string, string> = {
  paid_transfer_gone: 'the chain retracted the transfer of a payment that is PAID; the payment stays PAID',
  fork_below_finalized: 'the nodes have another block at a finalized height: the network is halted',
  confirmed_transfers_retracted: 'a reorg retracted transfers that had their confirmations; it lists them',
  transfer_missed:
    'the cross-check of final blocks found a transfer that the scan had missed; it is stored and published',
  transfer_unseen_by_audit:
    'the cross-check does not show a stored transfer, or shows it with another amount, address or time; it stays stored, and a person must find out which node is right',
  endpoints_disagree: 'endpoints contradict each other about a transfer or its block; the transfer waits meanwhile',
  false_answer:
    "an endpoint gave an answer that a block's hash disproves, or contradicted itself three times in ten minutes; the answer was not used",
  token_deprecated: "the owner of a network's USDT contract has put another contract in its place, which it names",
};

export const incidentsTable = (incidents: readonly ListedIncident[], title: string | null = null) =>
  table(
    title,
    incidents,
    {
      kind: 'kind',
      opened: 'opened_at',
      about: 'about',
      which: (incident) => (incident.about === 'payment' ? incident.payment_id : incident.network),
      network: 'network',
      incident: ({ about, incident_id: id }) => ({ to: `/incidents/${about}/${id}`, label: id }),
      times: (incident) => (incident.about === 'payment' ? 1 : incident.times),
      resolved: 'resolved_at',
      by: 'resolved_by',
    },
    'No incidents.',
  );

export const incidentView = (incident: ListedIncident): View => [
  {
    kind: 'facts',
    title: null,
    fields: [
      ['incident', incident.incident_id],
      ['kind', incident.kind],
      ['means', incidentKinds[incident.kind]],
      ...subject(incident),
      ['opened', incident.opened_at],
      ['resolved', incident.resolved_at],
      ['who', incident.resolved_by],
      ['why', incident.resolved_reason],
    ],
  },
];

/** The names of details are the service's own, and may be equal to others. */
function subject(incident: ListedIncident): (readonly [string, Value])[] {
  if (incident.about === 'payment') {
    return [
      ['payment', incident.payment_id],
      ['merchant', incident.merchant_id],
      ['transaction', [incident.transaction_id, ` on ${incident.network}`]],
      ['index', String(incident.transaction_event_index)],
    ];
  }
  const details = Object.entries(incident.detail).map(
    ([name, value]) => [words(name), typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  return [
    ['network', incident.network],
    ...details,
    ['seen', incident.times === 1 ? 'once' : `${incident.times} times, last ${shortTime(incident.last_seen_at)}`],
  ];
}
