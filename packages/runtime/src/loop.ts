import { setImmediate as endOfTurn } from 'node:timers/promises';
import { backoffMs, pause } from './concurrency/backoff.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** Longest pause after the first failure, however rarely the loop runs: a backend is often away for no longer than that. */
const MAX_FIRST_BACKOFF_MS = 1_000;
/** Longest pause after repeated failures, unless the loop's interval is longer. */
const MAX_BACKOFF_MS = 5_000;

/** What every loop reports to. */
export type LoopContext = { logger: Logger; metrics: Metrics };

export type Loop = {
  /** Runs at once, or once more right after the current run. Does nothing while the loop backs off after an error. */
  wake(): void;
  /** Aborts the signal and waits for the current run to end. */
  close(): Promise<void>;
};

/**
 * Calls `run` until closed: at once, then every `intervalMs`, or immediately while it returns `more: true`. Where it returns `pauseMs` as
 * well, the next run comes after that many milliseconds; where it returns `restMs`, not within those, however often the loop is woken.
 * Runs never overlap. After an error the pause is short, and each further one doubles it up to the interval, so that a moment without
 * a backend costs a moment, and a broken one is not hammered.
 * `run` must bound its own work and end when the signal aborts.
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

  /** @returns how long to wait before the next run, in milliseconds, and how much of it no wake ends. */
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
      // Checked in the same tick in which the rest begins, so that no wake is lost between the two.
      if (!isClosed()) await rest(woken && failures === 0 ? 0 : pauseMs, (end) => (endRest = end));
    }
  }

  // In a later tick, when the caller has the loop: `run` may wake it.
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
 * @param onStart receives what ends the pause early, which is cheaper than an AbortSignal for each wake.
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
  // Both series exist from the start: one that appears with its first error shows an alert no increase.
  for (const outcome of ['ok', 'error']) runs.zero({ loop, outcome });
  return () => {
    const end = runs.startTimer({ loop });
    return (outcome) => {
      end({ outcome });
      if (outcome === 'ok') lastSuccess.set({ loop }, Date.now() / 1000);
    };
  };
}
