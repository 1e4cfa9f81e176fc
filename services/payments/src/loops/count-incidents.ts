import type { Queryable } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import { countOpenIncidents } from '../store/incident.ts';

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
