import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Agent, type Dispatcher, type buildConnector } from 'undici';

/** The maximum age of a connection: the name may have new addresses and a new certificate. */
const MAX_AGE_MS = 300_000;
/** Upper limit for receivers that announce how long they keep idle connections. undici closes others after four seconds. */
const MAX_IDLE_MS = 60_000;
/** Idle connections to all hosts. Without a limit, ten thousand receivers that announce a minute would keep as many open. */
const MAX_IDLE = 2_048;

export type Connections = ReturnType<typeof createConnections>;

/**
 * Connections to receivers, kept alive for the next requests to the same host.
 * @param options.connector decides where connections may lead; see dial.ts.
 */
export function createConnections(options: {
  connector: buildConnector.connector;
  /** Concurrent requests to one host. */
  perHost: number;
  maxIdle?: number;
  maxAgeMs?: number;
}) {
  const { connector, perHost, maxIdle = MAX_IDLE, maxAgeMs = MAX_AGE_MS } = options;
  /** The longest idle first. */
  const idle = new Set<Socket>();
  // undici's own time limits are off: the whole attempt has one deadline. It reads no proxy setting.
  const agent = new Agent({
    connect: (target, callback) => {
      connector(target, (...[error, socket]) => {
        socket?.once('close', () => idle.delete(socket));
        if (error === null) callback(null, socket);
        else callback(error, null);
      });
    },
    // One more than are ever used: undici forgets a host without connections, but not if its last place was taken.
    connections: perHost + 1,
    pipelining: 1,
    allowH2: false,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    clientTtl: maxAgeMs,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const sockets = watchSockets((socket) => idle.delete(socket));
  return {
    /** Sends a request on a free connection to its host, or on a new one. Sends it once, and follows no redirect. */
    dispatch: (request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) =>
      void agent.dispatch(request, handler),
    /** Called in a handler's `onRequestStart`: reports the connection of the request that is starting. */
    onSocket: sockets.expect,
    markIdle(socket: Socket): void {
      if (socket.destroyed) return;
      idle.add(socket);
      const [longestIdle] = idle;
      if (idle.size <= maxIdle || longestIdle === undefined) return;
      idle.delete(longestIdle);
      // A request that is queued on it has not started, and gets another connection.
      longestIdle.destroy();
    },
    /** The number of hosts with connections or waiting requests. */
    hosts: () => Object.keys(agent.stats).length,
    /** Waits for running requests and closes everything. */
    async close(): Promise<void> {
      await agent.close();
      sockets.stop();
    },
  };
}

/**
 * Only undici's diagnostics channel shows which connection a request uses. It publishes synchronously, right after the handler's
 * `onRequestStart`, so no other request can come between the two.
 */
function watchSockets(onUse: (socket: Socket) => void) {
  const sendHeaders = channel('undici:client:sendHeaders');
  let expected: ((socket: Socket) => void) | null = null;
  const onSendHeaders = (message: unknown): void => {
    const report = expected;
    // Another client's request.
    if (report === null) return;
    expected = null;
    const { socket } = message as { socket: Socket };
    onUse(socket);
    report(socket);
  };
  sendHeaders.subscribe(onSendHeaders);
  return {
    expect: (report: (socket: Socket) => void) => void (expected = report),
    stop: () => sendHeaders.unsubscribe(onSendHeaders),
  };
}
