import type { ListedIncident } from '../incidents.ts';
import { lines, shortTime, table, type Cell } from '../text.ts';

export const incidentsView = ({ incidents }: { incidents: readonly ListedIncident[] }): string =>
  table(incidents, {
    incident: 'incident_id',
    kind: 'kind',
    opened: 'opened_at',
    about: 'about',
    which: (incident) => (incident.about === 'payment' ? incident.payment_id : incident.network),
    network: 'network',
    times: (incident) => (incident.about === 'payment' ? 1 : incident.times),
    resolved: 'resolved_at',
    by: 'resolved_by',
  });

export const incidentView = (incident: ListedIncident): string =>
  lines([
    ['incident', incident.incident_id],
    ['kind', incident.kind],
    ...subject(incident),
    ['opened', incident.opened_at],
    ['resolved', incident.resolved_at],
    ['who', incident.resolved_by],
    ['why', incident.resolved_reason],
  ]);

function subject(incident: ListedIncident): (readonly [string, Cell])[] {
  if (incident.about === 'payment') {
    return [
      ['payment', incident.payment_id],
      ['merchant', incident.merchant_id],
      ['transaction', `${incident.transaction_id} on ${incident.network}`],
      ['index', String(incident.transaction_event_index)],
    ];
  }
  const details = Object.entries(incident.detail).map(
    ([name, value]) => [name.replaceAll('_', ' '), typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  return [
    ['network', incident.network],
    ...details,
    ['seen', incident.times === 1 ? 'once' : `${incident.times} times, last ${shortTime(incident.last_seen_at)}`],
  ];
}
