import { NetworkIncidents } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { incidentRoutes } from '@quittance/http/server/incident-routes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { incidents } from '../store/incidents.ts';

/** Incidents of the networks. */
export const networkIncidentRoutes = (db: Queryable): Route[] =>
  incidentRoutes(NetworkIncidents, {
    read: (list) => incidents.read(db, list),
    resolve: (incidentId, author) => incidents.resolve(db, incidentId, author),
    toJson: (incident) => ({
      ...incident,
      opened_at: rfc3339(incident.opened_at),
      last_seen_at: rfc3339(incident.last_seen_at),
      resolved_at: incident.resolved_at && rfc3339(incident.resolved_at),
    }),
  });
