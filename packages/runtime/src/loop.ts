import { setImmediate as endOfTurn } from 'node:timers/promises';
import { backoffMs, pause } from './concurrency/backoff.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/**
 * The longest pause after the first failure, however long the loop's interval is: most outages of a backend are short.
 */
const MAX_FIRST_BACKOFF_MS = 1_000;
/** The longest pause after repeated failures, unless the loop's interval is longer. */
const MAX_BACKOFF_MS = 5_000;

/** Where every loop logs and reports its metrics. */
export type LoopContext = { logger: Logger; metrics: Metrics };

export type Loop = {
  /** Runs immediately, or once more right after the current run. Does nothing during the pause after an error. */
  wake(): void;
  /** Aborts the signal and waits for the current run to end. */
  close(): Promise<void>;
};

/**
 * Calls `run` until closed: immediately, then every `intervalMs`, or without a pause while it returns `more: true`. If
 * it returns `pauseMs`, the next run comes after that many milliseconds. If it returns `restMs`, the next run doesn't
 * start before then, even if the loop is woken.
 * Runs never overlap. After an error the pause is short, and each further error doubles it, up to the interval. A short
 * outage therefore causes a short pause, and a broken backend is not overloaded.
 * `run` must limit its own work, and end when the signal aborts.
 */
export function startLoop({
  name,
  intervalMs,
  logger,
  metrics,
  run,
}: LoopContext & {
  name: string;
  intervalMs: number;
  run: (signal: AbortSignal) => Promise<{ more: boolean; pauseMs?: number; restMs?: number }>;
}): Loop {
  const observe = observeRuns(name, metrics);
  const controller = new AbortController();
  const isClosed = () => controller.signal.aborted;
  const firstMs = Math.min(2 * Math.max(intervalMs, 50), MAX_FIRST_BACKOFF_MS);
  const backoff = { firstMs, maxMs: Math.max(intervalMs, MAX_BACKOFF_MS) };
  let failures = 0;
  let woken = false;
  let endRest = (): void => undefined;

  /** @returns how long to wait before the next run, and for how long the loop can't be woken, both in milliseconds. */
  async function runOnce(): Promise<{ pauseMs: number; restMs: number }> {
    woken = false;
    const end = observe();
    try {
      const { more, pauseMs = intervalMs, restMs = 0 } = await run(controller.signal);
      failures = 0;
      end('ok');
      return { pauseMs: more ? 0 : pauseMs, restMs };
    } catch (error) {
      if (controller.signal.aborted) return { pauseMs: 0, restMs: 0 };
      end('error');
      const pauseMs = Math.round(backoffMs(failures, backoff));
      failures += 1;
      logger.error({ error, loop: name, failures, pause_ms: pauseMs }, 'loop run failed');
      return { pauseMs, restMs: 0 };
    }
  }

  async function repeat(): Promise<void> {
    while (!isClosed()) {
      const { pauseMs, restMs } = await runOnce();
      if (restMs > 0) await pause(restMs, controller.signal);
      // Checked in the tick in which the pause begins, so that no wake is lost in between.
      if (!isClosed()) await rest(woken && failures === 0 ? 0 : pauseMs, (end) => (endRest = end));
    }
  }

  // In a later tick, because `run` may wake the loop, which the caller doesn't have yet.
  const ended = Promise.resolve().then(repeat);
  return {
    wake() {
      woken = true;
      if (failures === 0) endRest();
    },
    async close() {
      controller.abort(new Error('loop closed'));
      endRest();
      await ended;
    },
  };
}

/**
 * Even without a pause, timers and I/O run between two runs.
 * @param onStart receives a function that ends the pause early. This is cheaper than an AbortSignal for each wake.
 */
async function rest(milliseconds: number, onStart: (end: () => void) => void): Promise<void> {
  if (milliseconds === 0) return endOfTurn();
  const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
  onStart(resolve);
  const timer = setTimeout(resolve, milliseconds);
  await promise;
  clearTimeout(timer);
}

function observeRuns(loop: string, metrics: Metrics): () => (outcome: 'ok' | 'error') => void {
  const runs = metrics.histogram('loop_run_duration_seconds', 'Duration of one run of a background loop', [
    'loop',
    'outcome',
  ]);
  const lastSuccess = metrics.gauge('loop_last_success_timestamp_seconds', 'When a background loop last succeeded', [
    'loop',
  ]);
  // Both series exist from the start. Otherwise an alert sees no increase when the first error creates its series.
  for (const outcome of ['ok', 'error']) runs.zero({ loop, outcome });
  return () => {
    const end = runs.startTimer({ loop });
    return (outcome) => {
      end({ outcome });
      if (outcome === 'ok') lastSuccess.set({ loop }, Date.now() / 1000);
    };
  };
}
