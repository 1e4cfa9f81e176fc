import type { Queryable } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import { countOpenIncidents, incidents } from './incident.sql.ts';
import { PaymentIncidents } from '@quittance/contracts/http/incidents.ts';
import { incidentRoutes } from '@quittance/http/server/internal-routes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';

const INTERVAL_MS = 5_000;

/** Counts open incidents for an alert. Every replica shows the same number: take their maximum. */
export function startCountIncidentsLoop(context: LoopContext & { db: Queryable }): Loop {
  const { db, logger, metrics } = context;
  const open = metrics.gauge('payment_open_incidents', 'Incidents about paid payments that are not resolved yet');
  return startLoop({
    name: 'count-incidents',
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async () => {
      open.set(await countOpenIncidents(db));
      return { more: false };
    },
  });
}

/** Incidents about paid payments, for operators to resolve. */
export const paymentIncidentRoutes = (db: Queryable): Route[] =>
  incidentRoutes(PaymentIncidents, {
    read: (list) => incidents.read(db, list),
    resolve: (incidentId, author) => incidents.resolve(db, incidentId, author),
    toJson: withTextTimes,
  });
