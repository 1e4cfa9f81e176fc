import { defineCall, json } from '../call.ts';
import { query } from '../query.ts';
import type { ServiceName } from '../service-name.ts';

/** Who resolved an incident, when and why. All null while it is open. */
type Resolution = { resolved_at: string | null; resolved_by: string | null; resolved_reason: string | null };

const incidentId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Ids of incidents are UUIDs. */
export const isIncidentId = (text: string): boolean => incidentId.test(text);

/**
 * A service's incidents: what only a person can decide. `list` returns the newest hundred, or those after `before`, the
 * last one of the previous page. Resolving an incident undoes nothing and pays nothing; repeating it changes nothing.
 */
const incidentCalls = <Incident>(owner: ServiceName) => ({
  list: defineCall(owner, 'GET /incidents', json<{ incidents: Incident[] }>(), {
    access: 'viewer',
    query: {
      status: query.oneOf('open', 'all'),
      before: { parse: (text: string) => (isIncidentId(text) ? text : null), reason: 'must be an incident id' },
    },
  }),
  resolve: defineCall(owner, 'POST /incidents/:incident_id/resolve', json<Incident>(), {
    authored: true,
    access: 'support',
  }),
});

export type IncidentCalls<Incident> = ReturnType<typeof incidentCalls<Incident>>;

/** The transfer that paid a payment is no longer on the chain. */
export type PaymentIncident = Resolution & {
  incident_id: string;
  kind: string;
  payment_id: string;
  merchant_id: string;
  network: string;
  transaction_id: string;
  transaction_event_index: number;
  block_hash: string;
  opened_at: string;
};

export const PaymentIncidents = incidentCalls<PaymentIncident>('payments');

/** Something about a network that only a person can decide. */
export type NetworkIncident = Resolution & {
  incident_id: string;
  kind: string;
  network: string;
  detail: Record<string, unknown>;
  opened_at: string;
  /** How often its cause has occurred, including the first time, and when it last did. */
  times: number;
  last_seen_at: string;
};

export const NetworkIncidents = incidentCalls<NetworkIncident>('chain-watcher');
