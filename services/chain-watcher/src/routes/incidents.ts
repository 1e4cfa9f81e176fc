import { NetworkIncidents } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { incidentRoutes } from '@quittance/http/server/incident-routes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { incidents } from '../store/incidents.ts';

/** Incidents of the networks. */
export const networkIncidentRoutes = (db: Queryable): Route[] =>
  incidentRoutes(NetworkIncidents, {
    read: (list) => incidents.read(db, list),
    resolve: (incidentId, author) => incidents.resolve(db, incidentId, author),
    toJson: withTextTimes,
  });
