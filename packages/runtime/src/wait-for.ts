import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from './logger.ts';

/** Often at first, since a process and its backends are mostly started together; then seldom enough to be no burden. */
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 2_000;
/** Between two lines that say what is still waited for. */
const TELL_EVERY_MS = 10_000;

/**
 * Waits at start-up until a backend answers, since a process and its backends may be started together.
 * @param check throws, or does not answer, while the backend is not there.
 * @param isRefusal whether an error of `check` will be the same next time, such as a wrong password: then the wait is over.
 * @throws Error naming the backend, the time waited and the last failure, after `timeoutMs`, when `signal` aborts, or at a refusal.
 */
export async function waitFor({
  name,
  check,
  isRefusal = () => false,
  timeoutMs,
  logger,
  signal,
}: {
  name: string;
  check: () => unknown;
  isRefusal?: (error: unknown) => boolean;
  timeoutMs: number;
  logger: Logger;
  signal?: AbortSignal;
}): Promise<void> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const deadline = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const tell = createTeller(name, logger);
  let lastError: unknown = new Error('no answer');
  for (let retryMs = FIRST_RETRY_MS; !deadline.aborted; retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)) {
    try {
      await Promise.race([check(), aborted(deadline)]);
      tell.there();
      return;
    } catch (error) {
      if (isRefusal(error)) throw new Error(`${name} refuses this process: ${messageOf(error)}`, { cause: error });
      if (error !== deadline.reason) lastError = error;
      tell.missing(lastError);
    }
    await sleep(retryMs, null, { signal: deadline }).catch(() => undefined);
  }
  const why = signal?.aborted ? 'the process is stopping' : `waited ${timeoutMs} ms`;
  throw new Error(`${name} is not available (${why}): ${messageOf(lastError)}`, { cause: lastError });
}

/** Once in a while is worth a line; once a try is not. */
function createTeller(backend: string, logger: Logger): { missing(error: unknown): void; there(): void } {
  const startedAt = performance.now();
  let toldAt = -Infinity;
  return {
    missing(error) {
      const now = performance.now();
      if (now - toldAt < TELL_EVERY_MS) return;
      toldAt = now;
      const waited = Math.round((now - startedAt) / 1_000);
      logger.warn({ backend, error: messageOf(error), waited_seconds: waited }, 'waiting for a backend');
    },
    there() {
      if (toldAt > -Infinity) logger.info({ backend }, 'backend is there');
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  return promise;
}

/** A refused connection to a name with several addresses comes as an AggregateError with an empty message. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return error.message || (first instanceof Error ? first.message : error.name);
}
