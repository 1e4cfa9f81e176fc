import type { TLSSocket } from 'node:tls';
import type { Connector } from './dial.ts';
import { SendError } from './errors.ts';

/** The maximum age of a connection: the name may have new addresses and a new certificate. */
const MAX_AGE_MS = 300_000;
/** Idle connections to all hosts. Without a limit, ten thousand receivers that announce a minute would keep as many open. */
const MAX_IDLE = 2_048;

export type Connections = ReturnType<typeof createConnections>;

/** Gets the bytes of an answer, and the end of its connection. */
export type Reader = {
  read: (bytes: Buffer) => void;
  /** The connection has ended. @param error null if the receiver ended it in order. */
  ended: (error: Error | null) => void;
};

/** A connection to a receiver. */
export class Connection {
  readonly host: string;
  readonly remoteAddress: string | null;
  readonly openedMs = performance.now();
  private readonly socket: TLSSocket;
  private reader: Reader | null = null;
  private isOpen = true;
  private error: Error | null = null;

  constructor(host: string, socket: TLSSocket) {
    this.host = host;
    this.socket = socket;
    this.remoteAddress = socket.remoteAddress ?? null;
    socket.on('data', (bytes: Buffer) => {
      // Bytes that nobody asked for could be taken for the next answer.
      if (this.reader === null) this.close();
      else this.reader.read(bytes);
    });
    socket.on('end', () => this.end(null));
    socket.on('error', (error: Error) => {
      this.error = error;
    });
    socket.on('timeout', () => this.close());
    socket.on('close', () => this.end(this.error));
  }

  /** Writes a request; the answer goes to this reader, until free(). */
  send(request: Buffer, reader: Reader): void {
    this.socket.setTimeout(0);
    this.reader = reader;
    this.socket.write(request);
  }

  /** @returns whether it can be used again. */
  free(idleMs: number): boolean {
    this.reader = null;
    if (!this.isOpen || idleMs <= 0) this.close();
    else this.socket.setTimeout(idleMs);
    return this.isOpen;
  }

  isUsable(): boolean {
    return this.isOpen && this.socket.writable;
  }

  close(): void {
    this.isOpen = false;
    this.reader = null;
    this.socket.destroy();
  }

  private end(error: Error | null): void {
    this.isOpen = false;
    const { reader } = this;
    this.close();
    reader?.ended(error);
  }
}

/**
 * Connections to receivers, kept alive for the next requests to the same host.
 * @param options.connector decides where connections may lead; see dial.ts.
 */
export function createConnections(options: { connector: Connector; maxIdle?: number; maxAgeMs?: number }) {
  const { connector, maxIdle = MAX_IDLE, maxAgeMs = MAX_AGE_MS } = options;
  /** The longest idle first. */
  const idle = new Set<Connection>();
  const idleOf = new Map<string, Connection[]>();
  let [used, isClosed] = [0, false];
  let whenUnused = (): void => undefined;

  function endUse(): void {
    used -= 1;
    if (used === 0) whenUnused();
  }

  function leave(connection: Connection): void {
    idle.delete(connection);
    const others = idleOf.get(connection.host)?.filter((other) => other !== connection) ?? [];
    if (others.length === 0) idleOf.delete(connection.host);
    else idleOf.set(connection.host, others);
  }

  function takeIdle(host: string): Connection | null {
    for (let found = idleOf.get(host)?.at(-1); found !== undefined; found = idleOf.get(host)?.at(-1)) {
      leave(found);
      if (found.isUsable() && performance.now() - found.openedMs < maxAgeMs) return found;
      found.close();
    }
    return null;
  }

  return {
    /**
     * A free connection to the host, or a new one. Give it back with release().
     * @throws SendError if there is none.
     */
    async acquire(host: string): Promise<Connection> {
      if (isClosed) throw new SendError('interrupted', 'the connections are closed');
      used += 1;
      try {
        const taken = takeIdle(host);
        if (taken !== null) return taken;
        const socket = await connector(host);
        if (socket.destroyed) throw new SendError('connection_reset', `${host} closed the connection`);
        const connection = new Connection(host, socket);
        socket.once('close', () => leave(connection));
        return connection;
      } catch (error) {
        endUse();
        throw error;
      }
    },
    /** @param idleMs how long it may be kept; 0 closes it. */
    release(connection: Connection, idleMs: number): void {
      if (connection.free(isClosed ? 0 : idleMs)) {
        idle.add(connection);
        idleOf.set(connection.host, [...(idleOf.get(connection.host) ?? []), connection]);
        const [longestIdle] = idle;
        if (idle.size > maxIdle && longestIdle !== undefined) {
          leave(longestIdle);
          longestIdle.close();
        }
      }
      endUse();
    },
    /** Waits for running requests and closes everything. */
    async close(): Promise<void> {
      isClosed = true;
      for (const connection of idle) connection.close();
      if (used > 0) await new Promise<void>((resolve) => (whenUnused = resolve));
    },
  };
}
