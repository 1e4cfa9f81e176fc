import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Agent } from 'undici';
import type { Dispatcher, buildConnector } from 'undici';

/** The connections to receivers, kept for a while so that the next request to the same host needs no new one. */
export type Connections = {
  /** Sends a request out on a free connection to its host, or on a new one. Sends it once, and follows no redirect. */
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  /** To be called by a handler's `onRequestStart`: hears which connection the request that starts just now goes out on. */
  onCarrier(hear: (socket: Socket) => void): void;
  /** Says that nothing is under way on a connection any more. */
  rest(socket: Socket): void;
  /** Hosts with connections, or with requests that wait for one. */
  hosts(): number;
  /** Waits for what is under way and closes everything. */
  close(): Promise<void>;
};

/** No connection gets older: names may have got other addresses, and other certificates. */
const MAX_AGE_MS = 300_000;
/** How long a connection may lie idle where the receiver says how long it keeps its own; elsewhere undici closes it after four seconds. */
const MAX_IDLE_MS = 60_000;
/** Idle connections to all hosts together. Without a bound ten thousand receivers that ask for a minute each would get one. */
const MAX_IDLE = 2_048;

/** @param options.connector decides where connections may lead; see dial.ts. */
export function createConnections(options: {
  connector: buildConnector.connector;
  /** Requests to one host that may be under way at once. */
  perHost: number;
  maxIdle?: number;
  maxAgeMs?: number;
}): Connections {
  const { connector, perHost, maxIdle = MAX_IDLE, maxAgeMs = MAX_AGE_MS } = options;
  /** In the order in which they became idle. */
  const idle = new Set<Socket>();
  // undici's own time limits are off: one deadline holds for the whole attempt. It reads no proxy setting.
  const agent = new Agent({
    connect: (target, callback) => {
      connector(target, (...[error, socket]) => {
        socket?.once('close', () => idle.delete(socket));
        if (error === null) callback(null, socket);
        else callback(error, null);
      });
    },
    // One more than are ever in use: undici forgets a host whose connections have all gone, but not one whose last place was taken.
    connections: perHost + 1,
    pipelining: 1,
    allowH2: false,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    clientTtl: maxAgeMs,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const carriers = watchCarriers((socket) => idle.delete(socket));
  return {
    dispatch: (request, handler) => void agent.dispatch(request, handler),
    onCarrier: carriers.expect,
    rest(socket) {
      if (socket.destroyed) return;
      idle.add(socket);
      const [longestIdle] = idle;
      if (idle.size <= maxIdle || longestIdle === undefined) return;
      idle.delete(longestIdle);
      // A request that was about to go out on it has not begun, and gets another connection.
      longestIdle.destroy();
    },
    hosts: () => Object.keys(agent.stats).length,
    async close() {
      await agent.close();
      carriers.stop();
    },
  };
}

/**
 * Only undici's diagnostics channel tells on which of its connections a request goes out. It speaks within the very call that
 * starts the request, right after the handler's `onRequestStart`, so nothing can come between the two.
 */
function watchCarriers(taken: (socket: Socket) => void) {
  const sendHeaders = channel('undici:client:sendHeaders');
  let expected: ((socket: Socket) => void) | null = null;
  const tell = (message: unknown): void => {
    const hear = expected;
    // Another client of this process has sent something.
    if (hear === null) return;
    expected = null;
    const { socket } = message as { socket: Socket };
    taken(socket);
    hear(socket);
  };
  sendHeaders.subscribe(tell);
  return {
    expect: (hear: (socket: Socket) => void) => void (expected = hear),
    stop: () => sendHeaders.unsubscribe(tell),
  };
}
