import type { NextFunction, Request, Response } from 'express';

import { createCaller, withCaller } from '@quittance/runtime/concurrency/caller.ts';

import { TIMEOUT_HEADER } from '../headers.ts';

type RequestCaller = ReturnType<typeof createCaller>;

/**
 * Binds each request to its caller, so that the work of the request ends when the caller hangs up or stops waiting.
 * Runs after the internal token was checked, because a service states how long it waits and is trusted. A service that
 * doesn't state it waits until it hangs up.
 * @param publicTimeoutMs the time in which requests from outside are answered, counted from the end of their body.
 */
export function bindCaller(publicTimeoutMs: number) {
  return (request: Request, response: Response, next: NextFunction) => {
    const isInternal = request.path.startsWith('/internal/');
    const hangUp = new AbortController();
    response.once('close', () => response.writableFinished || hangUp.abort());
    const timeoutMs = isInternal ? statedTimeoutMs(request) : publicTimeoutMs;
    const caller = createCaller(timeoutMs, hangUp.signal);
    response.locals.caller = caller;
    withCaller(caller, next);
  };
}

/**
 * A client that sends slowly gets the same time for its answer as any other.
 * @param timeoutMs for a route with its own timeout.
 */
export function restartPublicCaller(request: Request, response: Response, timeoutMs?: number): void {
  if (!request.path.startsWith('/internal/')) (response.locals.caller as RequestCaller).restart(timeoutMs);
}

function statedTimeoutMs({ headers }: Request): number {
  const text = String(headers[TIMEOUT_HEADER] ?? '');
  return /^\d{1,7}$/.test(text) ? Number(text) : Infinity;
}
