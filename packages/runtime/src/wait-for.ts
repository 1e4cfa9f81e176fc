import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from './logger.ts';

const RETRY_MS = 250;

/**
 * Waits at start-up until a backend answers, since a process and its backends may be started together.
 * @param check throws, or does not answer, while the backend is not there.
 * @throws Error naming the backend, the time waited and the last failure, after `timeoutMs` or when `signal` aborts.
 */
export async function waitFor({
  name,
  check,
  timeoutMs,
  logger,
  signal,
}: {
  name: string;
  check: () => unknown;
  timeoutMs: number;
  logger: Logger;
  signal?: AbortSignal;
}): Promise<void> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const deadline = signal ? AbortSignal.any([signal, timeout]) : timeout;
  let lastError: unknown = new Error('no answer');
  let failures = 0;
  while (!deadline.aborted) {
    try {
      await Promise.race([check(), aborted(deadline)]);
      if (failures > 0) logger.info({ backend: name }, 'backend is there');
      return;
    } catch (error) {
      if (error !== deadline.reason) lastError = error;
      // Once is worth a line; a line every quarter of a second is not.
      if (failures++ === 0) logger.info({ backend: name, error: messageOf(lastError) }, 'waiting for a backend');
    }
    await sleep(RETRY_MS, null, { signal: deadline }).catch(() => undefined);
  }
  const why = signal?.aborted ? 'the process is stopping' : `waited ${timeoutMs} ms`;
  throw new Error(`${name} is not available (${why}): ${messageOf(lastError)}`, { cause: lastError });
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
