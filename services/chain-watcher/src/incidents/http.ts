import { NetworkIncidents } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { incidentRoutes } from '@quittance/http/server/incident-routes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable, Pool } from '@quittance/postgres/pool.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { incidents, INCIDENT_KINDS, countOpenByKind } from './incident.sql.ts';
import { ListOperatorActions, ResumeChain } from '@quittance/contracts/http/chain-watcher/operator-actions.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import { readOperatorActions, resumeNetwork } from './resumption.sql.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

/** Incidents of the networks. */
export const networkIncidentRoutes = (db: Queryable): Route[] =>
  incidentRoutes(NetworkIncidents, {
    read: (list) => incidents.read(db, list),
    resolve: (incidentId, author) => incidents.resolve(db, incidentId, author),
    toJson: withTextTimes,
  });

const LIST_MAX = 100;

export const resumeRoutes = ({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route[] => [
  callRoute(ResumeChain, async ({ params: { network: id }, body, author }) => {
    if (!networks.some((network) => network.id === id)) throw new HttpError(404, 'Network not found');
    const resumed = await resumeNetwork(pool, id, { acceptFork: body.accept_fork ?? false, author });
    if (resumed === null) throw new HttpError(409, `${id} is not halted: there is nothing to resume`);
    return withTextTimes(resumed);
  }),
  callRoute(ListOperatorActions, async ({ query: { network, before } }) => {
    const actions = await readOperatorActions(pool, { network, before, limit: LIST_MAX });
    return { actions: actions.map(withTextTimes) };
  }),
];

const INTERVAL_MS = 5_000;

/** Counts the open incidents, for an alert to watch. Every replica reports the same numbers: use their maximum. */
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
