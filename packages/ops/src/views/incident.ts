import { record, table } from '../text.ts';

/** The last three are null while it is open. */
export type Incident = {
  incident_id: string;
  kind: string;
  payment_id: string;
  merchant_id: string;
  network: string;
  transaction_id: string;
  transaction_event_index: number;
  opened_at: string;
  resolved_at: string | null;
  resolved_by: string | null;
  resolved_reason: string | null;
};

export const incidentsView = ({ incidents }: { incidents: readonly Incident[] }): string =>
  table(incidents, [
    ['incident', (incident) => incident.incident_id],
    ['kind', (incident) => incident.kind],
    ['opened', (incident) => incident.opened_at],
    ['payment', (incident) => incident.payment_id],
    ['network', (incident) => incident.network],
    ['resolved', (incident) => incident.resolved_at],
    ['by', (incident) => incident.resolved_by],
  ]);

export const incidentView = (incident: Incident): string =>
  record([
    ['incident', incident.incident_id],
    ['kind', incident.kind],
    ['payment', incident.payment_id],
    ['merchant', incident.merchant_id],
    ['transaction', `${incident.transaction_id} on ${incident.network}`],
    ['index', String(incident.transaction_event_index)],
    ['opened', incident.opened_at],
    ['resolved', incident.resolved_at],
    ['who', incident.resolved_by],
    ['why', incident.resolved_reason],
  ]);
