import type { Server } from 'node:http';
import { Server as NetServer, type AddressInfo } from 'node:net';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import type { Express } from 'express';
import type { Lifecycle } from '@quittance/runtime/lifecycle.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { createServer } from '../node-http.ts';
import { rejectUnreadable } from './reject-ambiguous-framing.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { createApp } from './app.ts';
import { trustRoute, type LegacyRecord } from './internal-routes.ts';

/** The longest time for a request's headers, and for the whole request, to arrive. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
/** The keep-alive time that clients are told. */
const KEEP_ALIVE_TIMEOUT_MS = 5_000;
/**
 * Added to that time, so that connections outlast the 60 s of proxies that ignore it. The client then closes first, and
 * no request is sent on a closing connection.
 */
const KEEP_ALIVE_BUFFER_MS = 70_000;
const MAX_CONNECTIONS = 4_096;
/**
 * While stopping: how long idle connections may still bring a request, and how long requests may take to finish. Every
 * answer closes its connection, so a connection that is still idle has been idle for all this time. nginx, and clients
 * that follow the keep-alive time, gave it up three seconds earlier and no longer send on it.
 */
const IDLE_GRACE_MS = 8_000;
const FINISH_TIMEOUT_MS = 15_000;

type ListenOptions = {
  host: string;
  port: number;
  lifecycle: Lifecycle;
  logger: Logger;
  /** The message of the log line. */
  message?: string;
};

/**
 * Serves `app` until the process stops. While it stops, no new connection is accepted, /readyz is 503, current requests
 * are finished, and every answer closes its connection.
 * @returns the port, which is chosen by the system for port 0.
 * @throws when the port is in use or not permitted.
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
      // The app answers instead, with the body and the id that all our answers have.
      requireHostHeader: false,
    },
    app,
  );
  server.maxConnections = MAX_CONNECTIONS;
  rejectUnreadable(server, logger);
  // Unknown expectations are ignored, as HTTP allows. Node by itself would answer with a bare 417.
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

/** Resolves when no connection is left, at the latest after the time to finish. */
async function close(server: Server): Promise<void> {
  const { promise: closed, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
  // The kernel resets connections that it has accepted and we haven't, with the requests they may carry.
  await everythingArrived();
  // net.Server's close() only stops listening. The HTTP server's close() would also cut idle connections immediately,
  // and with them a request that is on its way.
  NetServer.prototype.close.call(server, () => resolve());
  const idle = setTimeout(() => {
    void everythingArrived().then(() => server.closeIdleConnections());
  }, IDLE_GRACE_MS);
  const finish = setTimeout(() => server.closeAllConnections(), FINISH_TIMEOUT_MS);
  await closed;
  clearTimeout(idle);
  clearTimeout(finish);
  // Nothing is listening any more. This ends the server's housekeeping timer.
  server.close(() => undefined);
}

/**
 * Resolves right after the event loop has read what is in its sockets, however long the loop was busy or the process
 * frozen.
 */
async function everythingArrived(): Promise<void> {
  await nextImmediate();
  await nextImmediate();
}

type AppParts = Omit<Parameters<typeof createApp>[0], 'trust' | 'name' | 'legacy'> & {
  name: ServiceName;
  legacy: LegacyRecord;
};
type ServerConfig = { host: string; port: number; trust: Trust };

/** Serves a service's routes, with its settings, until the process stops. */
export async function serve({
  config: { host, port, trust },
  lifecycle,
  ...parts
}: AppParts & { config: ServerConfig; lifecycle: Lifecycle }): Promise<void> {
  const routes = [...parts.routes, trustRoute(parts.name, trust, parts.legacy)];
  await listen(createApp({ ...parts, routes, trust }), { host, port, lifecycle, logger: parts.logger });
}

type Parts = Pick<Parameters<typeof createApp>[0], 'name' | 'logger' | 'metrics' | 'ready'>;

/**
 * Serves /livez, /readyz and /metrics on a separate port, for a process whose other port is public. Call it before the
 * other port is opened: the last to open is the first to close, so /readyz answers 503 while the other port finishes
 * its requests.
 */
export const listenForProbes = (
  parts: Parts,
  { host, port, lifecycle }: Pick<Parameters<typeof listen>[1], 'host' | 'port' | 'lifecycle'>,
): Promise<{ port: number }> =>
  listen(createApp({ ...parts, routes: [] }), {
    ...{ host, port, lifecycle, logger: parts.logger },
    message: 'listening for probes',
  });
