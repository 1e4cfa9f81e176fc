import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { sweepWindows } from '../store/rate-limit-window.ts';

const SWEEP_INTERVAL_MS = 30_000;
/** Small enough that a sweep never holds its rows for long. */
const SWEEP_BATCH = 1_000;

/** Deletes rate-limit windows that are over: every public token and every guessed secret creates one. */
export const sweepWindowsLoop = (context: { db: Queryable; logger: Logger; metrics: Metrics }): Loop =>
  startLoop({
    name: 'sweep-windows',
    intervalMs: SWEEP_INTERVAL_MS,
    logger: context.logger,
    metrics: context.metrics,
    run: async () => ({ more: (await sweepWindows(context.db, SWEEP_BATCH)) === SWEEP_BATCH }),
  });
