import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { errorBody, unavailable } from '../errors.ts';

/** Backends that are there answer sooner, and then no probe needs an answer. */
const OPEN_AFTER_MS = 1_000;

/**
 * Answers for a process that still waits for what it cannot work without: /livez is 200, because starting it again would not help,
 * and everything else, /readyz with it, is 503. Closed again before this settles, so that the service can listen in its place.
 * @param until what is waited for; this settles as it does.
 * @throws what `until` throws, or Error when the port is taken.
 */
export async function serveStartupProbes({
  name,
  config: { host, port },
  until,
}: {
  name: string;
  config: { host: string; port: number };
  until: () => Promise<void>;
}): Promise<void> {
  const waiting = until();
  const isOver = waiting.then(
    () => true,
    () => true,
  );
  const timer = new AbortController();
  const isLong = sleep(OPEN_AFTER_MS, false, { signal: timer.signal }).catch(() => false);
  const isShort = await Promise.race([isOver, isLong]);
  timer.abort();
  if (isShort) {
    await waiting;
    return;
  }

  const server = createServer((request, response) => answer(name, request, response));
  const { promise: listening, resolve, reject }: PromiseWithResolvers<void> = Promise.withResolvers();
  server.once('error', reject).listen({ host, port }, resolve);
  await listening;
  try {
    await waiting;
  } finally {
    const { promise: closed, resolve: reportClosed }: PromiseWithResolvers<void> = Promise.withResolvers();
    server.close(() => reportClosed());
    server.closeAllConnections();
    await closed;
  }
}

function answer(name: string, request: IncomingMessage, response: ServerResponse): void {
  const isLive = ['GET', 'HEAD'].includes(request.method ?? '') && request.url === '/livez';
  const body = isLive ? { status: 'live', service: name } : errorBody(unavailable());
  // No connection outlives its answer: the next one may reach the service itself.
  response.writeHead(isLive ? 200 : 503, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(body));
}
