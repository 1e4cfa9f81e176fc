import { withTimeout } from './concurrency/deadline.ts';
import type { Logger } from './logger.ts';

/** The longest that a process may take to close. Orchestrators usually kill it after 30 s. */
const STOP_TIMEOUT_MS = 25_000;

/** Closes what a service has opened, newest first. */
export type Lifecycle = {
  /** Registers something to close on stop. If the process is already stopping, it is closed immediately. */
  onStop(name: string, close: () => Promise<void> | void): void;
  /** Like onStop(), for a resource with its own close(). @returns the resource. */
  closing<R extends { close: () => Promise<void> | void }>(name: string, resource: R): R;
  /** Aborted as soon as stopping begins: loops end, and /readyz returns 503. */
  stopping: AbortSignal;
  /** Closes everything in reverse order of registration. A repeated call waits for the same stop. */
  stop(reason: string): Promise<void>;
};

/**
 * @returns the lifecycle, and `stopped`, which resolves after a stop. `clean` says whether everything closed in time
 *   and without an error.
 */
export function createLifecycle({ logger, timeoutMs = STOP_TIMEOUT_MS }: { logger: Logger; timeoutMs?: number }): {
  lifecycle: Lifecycle;
  stopped: Promise<{ clean: boolean }>;
} {
  const closers: { name: string; close: () => Promise<void> | void }[] = [];
  const controller = new AbortController();
  const { promise: stopped, resolve: reportStopped } = Promise.withResolvers<{ clean: boolean }>();
  let stop: Promise<void> | null = null;
  let clean = true;
  let closing = '';
  /** Milliseconds that each close took, in order. */
  const closed: Record<string, number> = {};

  async function closeAll(): Promise<void> {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
      closing = closer.name;
      const startedAt = performance.now();
      try {
        await closer.close();
      } catch (error) {
        clean = false;
        logger.error({ error, closing }, 'closing failed');
      }
      closed[closer.name] = Math.round(performance.now() - startedAt);
    }
  }

  async function stopWithin(reason: string): Promise<void> {
    logger.info({ reason }, 'stopping');
    controller.abort(new Error(`stopping: ${reason}`));
    try {
      await withTimeout(timeoutMs, closeAll());
      logger.info({ closed }, 'stopped');
    } catch {
      clean = false;
      logger.error({ closing, closed, left: closers.map(({ name }) => name) }, 'stopped before everything was closed');
    }
    reportStopped({ clean });
  }

  function onStop(name: string, close: () => Promise<void> | void): void {
    closers.push({ name, close });
    // During a stop the running closeAll() picks it up; after one, this call does.
    if (stop !== null) void stop.then(closeAll);
  }

  return {
    stopped,
    lifecycle: {
      stopping: controller.signal,
      onStop,
      closing(name, resource) {
        onStop(name, () => resource.close());
        return resource;
      },
      stop: (reason) => (stop ??= stopWithin(reason)),
    },
  };
}
