import { NetworkIncidents } from '@quittance/contracts/http/incidents.ts';
import { incidentRoutes } from '@quittance/http/server/internal-routes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { countOpenByKind, incidents, INCIDENT_KINDS } from './incident.sql.ts';

/** Incidents of the networks. */
export const networkIncidentRoutes = (db: Queryable): Route[] =>
  incidentRoutes(NetworkIncidents, {
    read: (list) => incidents.read(db, list),
    resolve: (incidentId, author) => incidents.resolve(db, incidentId, author),
    toJson: withTextTimes,
  });

const INTERVAL_MS = 5_000;

/** Counts the open incidents for an alert. Every replica reports the same numbers, so use their maximum. */
export function startCountIncidentsLoop(context: {
  db: Queryable;
  networks: readonly { id: string }[];
  logger: Logger;
  metrics: Metrics;
}): Loop {
  const { db, networks, logger, metrics } = context;
  const gauge = metrics.gauge('chain_open_incidents', 'Incidents that are not resolved yet', ['network', 'kind']);
  const show = (counted: Awaited<ReturnType<typeof countOpenByKind>>): void => {
    for (const { id: network } of networks) {
      for (const kind of INCIDENT_KINDS) {
        const found = counted.find((count) => count.network === network && count.kind === kind);
        gauge.set({ network, kind }, found?.open ?? 0);
      }
    }
  };
  show([]);
  return startLoop({
    name: 'count-incidents',
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async () => {
      show(await countOpenByKind(db));
      return { more: false };
    },
  });
}
