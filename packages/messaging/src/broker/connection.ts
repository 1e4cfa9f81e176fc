import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, type ChannelModel } from 'amqplib';
import type { Logger } from '@quittance/runtime/logger.ts';
import { backoffMs, pause } from '@quittance/runtime/concurrency/backoff.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';

/** `blocked`: connected, but RabbitMQ takes no messages for the moment (memory or disk alarm). */
export type ConnectionState = 'connecting' | 'connected' | 'blocked' | 'closed';

/** One connection to RabbitMQ that is made again whenever it is lost. */
export type ReconnectingConnection = {
  state(): ConnectionState;
  /** The live connection, waiting for it if need be. @throws when the signal aborts first. */
  connected(signal: AbortSignal): Promise<ChannelModel>;
  /** Settles once the first attempt has come to something: with why RabbitMQ does not let us in if that is what it said, else null. */
  firstRefusal: Promise<string | null>;
  close(): Promise<void>;
};

const CONNECT_LIMIT_MS = 5_000;
/** Declaring the queues of a fresh cluster takes seconds; a broker that hangs must still be noticed. */
const SET_UP_LIMIT_MS = 20_000;
const CLOSE_LIMIT_MS = 3_000;
/** Never gives up, and never knocks less often than this: the outbox waits behind the door. */
const RECONNECT = { firstMs: 100, maxMs: 5_000 };
/** A dead peer is noticed within two of these. */
const HEARTBEAT_SECONDS = 10;

type KeeperOptions = {
  url: string;
  /** Shown in RabbitMQ's list of connections. */
  name: string;
  /** Runs on every new connection before anybody else gets it. */
  setUp: (connection: ChannelModel) => Promise<void>;
  /** Hears each change of state. */
  onState: (state: ConnectionState) => void;
  logger: Logger;
};

/**
 * Returns at once; connects, and reconnects for ever, in the background.
 * @throws Error when the URL is not one, without repeating it: it holds a password.
 */
export function createReconnectingConnection(options: KeeperOptions): ReconnectingConnection {
  const { url, address } = readUrl(options.url);
  const logger = options.logger.child({ connection: options.name, broker: address });
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  const { promise: firstRefusal, resolve: reportFirst } = Promise.withResolvers<string | null>();
  const holder = createHolder((state) => {
    if (state !== 'connecting') reportFirst(null);
    options.onState(state);
  });

  async function run(): Promise<void> {
    let failures = 0;
    while (!isStopping()) {
      const reason = await live({ ...options, url, logger }, holder, isStopping, () => (failures = 0)).catch(
        (error: unknown) => error,
      );
      if (isStopping()) return;
      holder.become('connecting', null);
      const retryMs = Math.round(backoffMs(failures, RECONNECT));
      failures += 1;
      const refusal = refusalOf(reason);
      reportFirst(refusal);
      if (refusal === null) logger.warn({ error: reason, retry_ms: retryMs }, 'No connection to RabbitMQ');
      else
        logger.error({ error: reason, retry_ms: retryMs }, 'RabbitMQ refuses the user, its password or what it may do');
      await pause(retryMs, stopping.signal);
    }
  }

  const running = run();
  return {
    state: () => holder.state(),
    connected: (signal) => holder.connected(signal),
    firstRefusal,
    async close() {
      if (isStopping()) return;
      stopping.abort();
      const connection = holder.current();
      holder.become('closed', null);
      if (connection !== null) await closeConnection(connection);
      await withTimeout(CLOSE_LIMIT_MS, running, 'Leaving RabbitMQ').catch((error: unknown) => {
        logger.warn({ error }, 'A connection attempt outlives the close');
      });
    },
  };
}

/**
 * One connection from its first byte to its end.
 * @param onConnected is called once it is set up.
 * @returns why it ended.
 */
async function live(
  { url, name, setUp, logger }: KeeperOptions,
  holder: Holder,
  isStopping: () => boolean,
  onConnected: () => void,
): Promise<unknown> {
  const connection = await open(url, name);
  const ended = new Promise<unknown>((resolve) => connection.on('close', resolve));
  // Without a listener an 'error' event would end the process; 'close' always follows and brings the reason.
  connection.on('error', () => undefined);
  try {
    await withTimeout(SET_UP_LIMIT_MS, setUp(connection), 'Declaring the topology');
    if (isStopping()) throw new Error('Closed while connecting');
  } catch (error) {
    await closeConnection(connection);
    throw error;
  }
  connection.on('blocked', (reason: string) => {
    logger.warn({ reason }, 'RabbitMQ takes no messages for now');
    holder.become('blocked', connection);
  });
  connection.on('unblocked', () => {
    logger.info('RabbitMQ takes messages again');
    holder.become('connected', connection);
  });
  onConnected();
  logger.info('Connected to RabbitMQ');
  holder.become('connected', connection);
  return await ended;
}

/** Where the live connection is kept, and waited for. */
type Holder = {
  state(): ConnectionState;
  current(): ChannelModel | null;
  become(state: ConnectionState, connection: ChannelModel | null): void;
  connected(signal: AbortSignal): Promise<ChannelModel>;
};

function createHolder(onState: (state: ConnectionState) => void): Holder {
  const events = new EventEmitter().setMaxListeners(0);
  let state: ConnectionState = 'connecting';
  let current: ChannelModel | null = null;
  return {
    state: () => state,
    current: () => current,
    become(next, connection) {
      state = next;
      current = connection;
      onState(next);
      if (connection !== null) events.emit('connected');
    },
    async connected(signal) {
      while (current === null) await once(events, 'connected', { signal });
      return current;
    },
  };
}

/** amqplib tells what the server said as text only. 403 is for a user, a password or a missing permission. */
function refusalOf(reason: unknown): string | null {
  if (!(reason instanceof Error)) return null;
  return /\b403 \(ACCESS.REFUSED\)/.test(reason.message) ? reason.message : null;
}

/** Nagle's algorithm must be off: left on, it holds small messages back for tens of milliseconds. amqplib leaves it on. */
async function open(url: string, name: string): Promise<ChannelModel> {
  return await connect(url, {
    noDelay: true,
    timeout: CONNECT_LIMIT_MS,
    clientProperties: { connection_name: name },
  });
}

async function closeConnection(connection: ChannelModel): Promise<void> {
  try {
    await withTimeout(CLOSE_LIMIT_MS, connection.close(), 'Closing the connection');
  } catch {
    // Already gone, or too slow to say goodbye to. amqplib offers no way to drop a connection, hence its socket.
    (connection.connection as unknown as { stream: Socket }).stream.destroy();
  }
}

function readUrl(text: string): { url: string; address: string } {
  if (!URL.canParse(text)) throw new Error('The URL of RabbitMQ is not a URL');
  const url = new URL(text);
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  return { url: url.href, address: `${url.host}${url.pathname}` };
}
