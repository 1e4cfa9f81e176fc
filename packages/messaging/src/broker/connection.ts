import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, type ChannelModel } from 'amqplib';
import { backoffMs, pause } from '@quittance/runtime/concurrency/backoff.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { parseAmqpUrls } from '@quittance/runtime/amqp-urls.ts';
import type { Logger } from '@quittance/runtime/logger.ts';

/** `blocked`: connected, but RabbitMQ accepts no messages (memory or disk alarm). */
export type ConnectionState = 'connecting' | 'connected' | 'blocked' | 'closed';

const CONNECT_LIMIT_MS = 5_000;
/** Declaring the queues of a new cluster takes seconds; a broker that hangs must still be noticed. */
const SET_UP_LIMIT_MS = 20_000;
const CLOSE_LIMIT_MS = 3_000;
/**
 * There is no last attempt, and the pause never gets longer than this: the outbox waits for the connection. It grows after each round of
 * the hosts.
 */
const RECONNECT = { firstMs: 100, maxMs: 5_000 };
/** A dead peer is noticed within two of these. */
const HEARTBEAT_SECONDS = 10;

type ConnectionOptions = {
  /** As in parseAmqpUrls(). */
  url: string;
  /** Shown in RabbitMQ's list of connections. */
  name: string;
  /** Runs on every new connection before any caller gets it. */
  setUp: (connection: ChannelModel) => Promise<void>;
  onState: (state: ConnectionState) => void;
  logger: Logger;
};

export type ReconnectingConnection = ReturnType<typeof createReconnectingConnection>;

/**
 * One connection to RabbitMQ that is made again whenever it is lost. Returns immediately; connects, and reconnects for ever, in the
 * background. The first of several hosts is a random one, so that connections spread over them, and each attempt goes to the next: a host
 * that was lost is the last to be tried again.
 * @throws Error for an invalid URL. The message does not repeat the URL, which holds a password.
 */
export function createReconnectingConnection(options: ConnectionOptions) {
  const hosts = readHosts(options.url);
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  const { promise: loginRefusal, resolve: reportFirstRound } = Promise.withResolvers<string | null>();
  const current = createCurrentConnection((state) => {
    if (state !== 'connecting') reportFirstRound(null);
    options.onState(state);
  });

  async function run(): Promise<void> {
    let failures = 0;
    for (const { url, address } of inTurn(hosts)) {
      if (isStopping()) return;
      const logger = options.logger.child({ connection: options.name, broker: address });
      const session = connectUntilClosed({ ...options, url, logger }, current, isStopping, () => (failures = 0));
      const error = await session.catch((reason: unknown) => reason);
      if (isStopping()) return;
      current.set('connecting', null);
      const retryMs = Math.round(backoffMs(Math.floor(failures / hosts.length), RECONNECT));
      failures += 1;
      const refusal = refusalOf(error);
      if (refusal !== null || failures >= hosts.length) reportFirstRound(refusal);
      if (refusal === null) logger.warn({ error, retry_ms: retryMs }, 'No connection to RabbitMQ');
      else logger.error({ error, retry_ms: retryMs }, 'RabbitMQ refuses the user, its password or its permissions');
      await pause(retryMs, stopping.signal);
    }
  }

  const running = run();
  return {
    state: () => current.state(),
    /** The open connection; waits for it if necessary. @throws when the signal aborts first. */
    connected: (signal: AbortSignal) => current.connected(signal),
    /** Resolves after the first attempt to connect to each host: with RabbitMQ's reason when it refused the login, else null. */
    loginRefusal,
    async close(): Promise<void> {
      if (isStopping()) return;
      stopping.abort();
      const connection = current.get();
      current.set('closed', null);
      if (connection !== null) await closeConnection(connection);
      await withTimeout(CLOSE_LIMIT_MS, running, 'Closing the connection').catch((error: unknown) => {
        options.logger.warn(
          { error, connection: options.name },
          'A connection attempt is still running after the close',
        );
      });
    },
  };
}

/**
 * One connection, from the attempt to connect to its close.
 * @param onConnected is called once it is set up.
 * @returns why it closed.
 */
async function connectUntilClosed(
  { url, name, setUp, logger }: ConnectionOptions,
  current: CurrentConnection,
  isStopping: () => boolean,
  onConnected: () => void,
): Promise<unknown> {
  const connection = await connect(url, {
    // Nagle's algorithm, which amqplib leaves on, delays small messages by tens of milliseconds.
    noDelay: true,
    timeout: CONNECT_LIMIT_MS,
    clientProperties: { connection_name: name },
  });
  writeTogether(socketOf(connection));
  const closed = new Promise<unknown>((resolve) => connection.on('close', resolve));
  // Without a listener an 'error' event would end the process; 'close' always follows and has the reason.
  connection.on('error', () => undefined);
  try {
    await withTimeout(SET_UP_LIMIT_MS, setUp(connection), 'Preparing the connection');
    if (isStopping()) throw new Error('Closed while connecting');
  } catch (error) {
    await closeConnection(connection);
    throw error;
  }
  connection.on('blocked', (reason: string) => {
    logger.warn({ reason }, 'RabbitMQ accepts no messages');
    current.set('blocked', connection);
  });
  connection.on('unblocked', () => {
    logger.info('RabbitMQ accepts messages again');
    current.set('connected', connection);
  });
  onConnected();
  logger.info('Connected to RabbitMQ');
  current.set('connected', connection);
  return await closed;
}

type CurrentConnection = ReturnType<typeof createCurrentConnection>;

/** Holds the open connection, if there is one, and lets callers wait for it. */
function createCurrentConnection(onState: (state: ConnectionState) => void) {
  const events = new EventEmitter().setMaxListeners(0);
  let state: ConnectionState = 'connecting';
  let current: ChannelModel | null = null;
  return {
    state: () => state,
    get: () => current,
    set(next: ConnectionState, connection: ChannelModel | null): void {
      state = next;
      current = connection;
      onState(next);
      if (connection !== null) events.emit('connected');
    },
    async connected(signal: AbortSignal): Promise<ChannelModel> {
      while (current === null) await once(events, 'connected', { signal });
      return current;
    },
  };
}

/** amqplib gives the server's reply only as text. 403 means a wrong user or password, or a missing permission. */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  return /\b403 \(ACCESS.REFUSED\)/.test(error.message) ? error.message : null;
}

async function closeConnection(connection: ChannelModel): Promise<void> {
  try {
    await withTimeout(CLOSE_LIMIT_MS, connection.close(), 'Closing the connection');
  } catch {
    // Already closed, or too slow. amqplib has no way to drop a connection, so this uses its socket.
    socketOf(connection).destroy();
  }
}

/** A private field of amqplib. */
const socketOf = ({ connection }: ChannelModel): Socket => (connection as unknown as { stream: Socket }).stream;

/**
 * Collects the writes of one turn of the event loop and sends them together at its end. amqplib writes each message and each
 * acknowledgement separately, and each would be a system call here and a packet for RabbitMQ to read.
 */
function writeTogether(socket: Socket): void {
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  socket.write = (...given: unknown[]): boolean => {
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(() => socket.uncork());
    }
    return write(...given);
  };
}

/** For ever, from a random one on. */
function* inTurn<T>(all: readonly T[]): Generator<T, never> {
  const first = Math.floor(Math.random() * all.length);
  const turned = [...all.slice(first), ...all.slice(0, first)];
  for (;;) yield* turned;
}

function readHosts(text: string): { url: string; address: string }[] {
  return parseAmqpUrls(text).map((one) => {
    const url = new URL(one);
    if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
    return { url: url.href, address: `${url.host}${url.pathname}` };
  });
}
