import { incidentCalls, type Resolution } from '../incidents.ts';

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
