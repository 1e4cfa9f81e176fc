import { backoffMs, pause } from './concurrency/backoff.ts';
import type { Logger } from './logger.ts';

/** Frequent at first, because a process and its backends usually start together. */
const RETRY = { firstMs: 250, maxMs: 2_000 };
const LOG_EVERY_MS = 10_000;

/**
 * Waits at start-up until a backend responds.
 * @param check throws, or doesn't resolve, while the backend is unavailable.
 * @param isRefusal whether an error of `check` is permanent, such as a wrong password. The wait then ends.
 * @throws Error with the backend, the time waited and the last failure: after `timeoutMs`, when `signal` aborts, or
 *   after a refusal.
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
  const startedAt = performance.now();
  let loggedAt = -Infinity;
  let lastError: unknown = new Error('no answer');
  for (let failures = 0; !deadline.aborted; failures += 1) {
    try {
      await Promise.race([check(), aborted(deadline)]);
      if (loggedAt > -Infinity) logger.info({ backend: name }, 'backend is available');
      return;
    } catch (error) {
      if (isRefusal(error)) throw new Error(`${name} refuses this process: ${messageOf(error)}`, { cause: error });
      if (error !== deadline.reason) lastError = error;
    }
    const now = performance.now();
    if (now - loggedAt >= LOG_EVERY_MS) {
      loggedAt = now;
      const waitedSeconds = Math.round((now - startedAt) / 1_000);
      const fields = { backend: name, error: messageOf(lastError), waited_seconds: waitedSeconds };
      logger.warn(fields, 'waiting for a backend');
    }
    await pause(backoffMs(failures, RETRY), deadline);
  }
  const why = signal?.aborted ? 'the process is stopping' : `waited ${timeoutMs} ms`;
  throw new Error(`${name} is not available (${why}): ${messageOf(lastError)}`, { cause: lastError });
}

function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  return promise;
}

/** A refused connection to a host with several addresses is an AggregateError with an empty message. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return error.message || (first instanceof Error ? first.message : error.name);
}
