import type { Server } from 'node:http';
import { Server as NetServer, type AddressInfo } from 'node:net';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import type { Express } from 'express';

import type { Lifecycle } from '@quittance/runtime/lifecycle.ts';
import type { Logger } from '@quittance/runtime/logger.ts';

import { createServer } from '../node-http.ts';
import { rejectUnreadable } from './reject-ambiguous-framing.ts';

/** Longest for a request's headers, and for the whole request, to arrive. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
/** How long clients are told to keep an idle connection. */
const KEEP_ALIVE_TIMEOUT_MS = 5_000;
/** It is kept above the 60 s of proxies that were not told, so that it is the client that closes and no request meets a closing end. */
const KEEP_ALIVE_BUFFER_MS = 70_000;
const MAX_CONNECTIONS = 4_096;
/**
 * While stopping: how long idle connections may still bring a request, and how long requests may take to finish. Every answer closes its
 * connection, so what is idle after that has been idle for as long. nginx and clients that heed what they are told have then given it
 * up for three seconds, and none of them sends into a closing end.
 */
const IDLE_GRACE_MS = 8_000;
const FINISH_TIMEOUT_MS = 15_000;

type ListenOptions = {
  host: string;
  port: number;
  lifecycle: Lifecycle;
  logger: Logger;
  /** Of the log line. */
  message?: string;
};

/**
 * Serves `app` until the process stops. Then no new connection is accepted, /readyz is 503, requests under way are finished
 * and every answer closes its connection.
 * @returns the port listened on, which matters when 0 was asked for.
 * @throws when the port is taken or not allowed.
 */
export async function listen(
  app: Express,
  { host, port, lifecycle, logger, message = 'listening' }: ListenOptions,
): Promise<{ port: number }> {
  app.locals.stopping = lifecycle.stopping;
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      keepAliveTimeoutBuffer: KEEP_ALIVE_BUFFER_MS,
      connectionsCheckingInterval: 1_000,
      // The app answers for it, with the body and the id that every answer of ours has.
      requireHostHeader: false,
    },
    app,
  );
  server.maxConnections = MAX_CONNECTIONS;
  rejectUnreadable(server, logger);
  // An expectation we do not know is ignored, as HTTP allows; Node alone would answer with a bare 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  const { promise: listening, resolve, reject }: PromiseWithResolvers<void> = Promise.withResolvers();
  server.once('error', reject);
  server.listen({ host, port }, resolve);
  await listening;
  server.off('error', reject);
  server.on('error', (error) => logger.error({ error }, 'http server error'));
  lifecycle.onStop('http server', () => close(server));
  const address = server.address() as AddressInfo;
  logger.info({ host, port: address.port }, message);
  return { port: address.port };
}

/** Ends as soon as no connection is left, at the latest when the time to finish is over. */
async function close(server: Server): Promise<void> {
  const { promise: closed, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
  // The kernel resets connections that it has taken and we have not, with the requests they may have brought.
  await everythingArrived();
  // Of the two, this close() only stops listening. An HTTP server's own would also cut idle connections at once, and with them
  // a request that is on its way.
  NetServer.prototype.close.call(server, () => resolve());
  const idle = setTimeout(() => {
    void everythingArrived().then(() => server.closeIdleConnections());
  }, IDLE_GRACE_MS);
  const finish = setTimeout(() => server.closeAllConnections(), FINISH_TIMEOUT_MS);
  await closed;
  clearTimeout(idle);
  clearTimeout(finish);
  // Nothing is listening any more; this ends the server's housekeeping timer.
  server.close(() => undefined);
}

/** Resolves right after the event loop has taken what waits in its sockets, however long it was busy or the process not running. */
async function everythingArrived(): Promise<void> {
  await nextImmediate();
  await nextImmediate();
}
