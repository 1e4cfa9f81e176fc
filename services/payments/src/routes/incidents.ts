import { PaymentIncidents } from '@quittance/contracts/http/payments/incidents.ts';
import { incidentRoutes } from '@quittance/http/server/incident-routes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { incidents } from '../store/incident.ts';

/** Incidents about paid payments, for operators to resolve. */
export const paymentIncidentRoutes = (db: Queryable): Route[] =>
  incidentRoutes(PaymentIncidents, {
    read: (list) => incidents.read(db, list),
    resolve: (incidentId, author) => incidents.resolve(db, incidentId, author),
    toJson: withTextTimes,
  });
