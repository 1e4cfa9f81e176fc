import type { Queryable } from '@quittance/postgres/pool.ts';
import { startLoop, type Loop, type LoopContext } from '@quittance/runtime/loop.ts';
import { readCheckState } from '../store/check-report.ts';

const INTERVAL_MS = 15_000;

/** Shows what the last `ops check --report` came to. Every replica shows the same: take their maximum. */
export function startShowCheckLoop({ db, logger, metrics }: LoopContext & { db: Queryable }): Loop {
  const lastRun = metrics.gauge(
    'check_last_run_timestamp_seconds',
    'When ops check last looked at everything (whole), or ended before that (incomplete)',
    ['outcome'],
  );
  const found = metrics.gauge('check_violations', 'How often a rule was broken at the last whole check', ['rule']);
  return startLoop({
    name: 'show-check',
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async () => {
      const { whole_at: wholeAt, incomplete_at: incompleteAt, violations } = await readCheckState(db);
      lastRun.set({ outcome: 'whole' }, wholeAt.getTime() / 1000);
      if (incompleteAt !== null) lastRun.set({ outcome: 'incomplete' }, incompleteAt.getTime() / 1000);
      // Nothing is awaited between reset and set, so no scrape sees the gap.
      found.reset();
      for (const { rule, count } of violations) found.set({ rule }, count);
      return { more: false };
    },
  });
}
