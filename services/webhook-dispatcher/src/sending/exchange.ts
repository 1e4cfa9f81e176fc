import { isIPv6 } from 'node:net';
import { type Answer, AnswerReader } from './answer.ts';
import type { Connection, Connections, Reader } from './connections.ts';
import { SendError } from './errors.ts';

/** One request to a host. An IPv6 address has no brackets. */
export type Request = { host: string; path: string; headers: Record<string, string>; body: Buffer };

/** The result of one request: an answer, or why there is none. */
export type Exchanged = {
  answer: Answer | null;
  /** Null if there is an answer. */
  error: unknown;
  /** The address that received the request; null if none did. */
  remoteAddress: string | null;
  /** Whether the whole answer arrived. */
  isComplete: boolean;
};

export type ExchangeLimits = {
  /** From now to the end of the answer's body, including resolving the name and connecting. */
  timeoutMs: number;
  /** For the rest of the answer, after the status line. */
  bodyTimeoutMs: number;
};

/**
 * Makes one POST and waits for its answer. The status line decides: a rest that is too long, incomplete, endless or no HTTP only costs the
 * connection. Sends it once, and follows no redirect. Never throws.
 */
export function exchange(connections: Connections, request: Request, limits: ExchangeLimits): Promise<Exchanged> {
  return new Promise((resolve) => void new Exchange(connections, request, limits, resolve).start());
}

function bytesOf({ host, path, headers, body }: Request): Buffer {
  const hostHeader = isIPv6(host) ? `[${host}]` : host;
  const lines = Object.entries({
    Host: hostHeader,
    Connection: 'keep-alive',
    ...headers,
    'Content-Length': body.length,
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1'), body]);
}

/** Holds the deadline and the connection of a request until it has ended. */
class Exchange implements Reader {
  private readonly connections: Connections;
  private readonly request: Request;
  private readonly limits: ExchangeLimits;
  private readonly resolve: (exchanged: Exchanged) => void;
  private readonly startedMs = performance.now();
  private timer: NodeJS.Timeout;
  private hasEnded = false;
  private connection: Connection | null = null;
  private readonly reader = new AnswerReader();

  constructor(
    connections: Connections,
    request: Request,
    limits: ExchangeLimits,
    resolve: (exchanged: Exchanged) => void,
  ) {
    this.connections = connections;
    this.request = request;
    this.limits = limits;
    this.resolve = resolve;
    this.timer = setTimeout(outOfTime, limits.timeoutMs, this);
  }

  async start(): Promise<void> {
    try {
      const connection = await this.connections.acquire(this.request.host);
      // It timed out while it waited for a connection, so it must not be sent.
      if (this.hasEnded) {
        this.connections.release(connection, 0);
        return;
      }
      this.connection = connection;
      connection.send(bytesOf(this.request), this);
    } catch (error) {
      this.end(error, false);
    }
  }

  read(bytes: Buffer): void {
    const { reader } = this;
    const wasKnown = reader.answer !== null;
    try {
      reader.read(bytes);
    } catch (error) {
      this.end(error, false);
      return;
    }
    if (reader.isDone) this.end(null, reader.isComplete);
    else if (!wasKnown && reader.answer !== null) this.limitRest();
  }

  private limitRest(): void {
    const { timeoutMs, bodyTimeoutMs } = this.limits;
    clearTimeout(this.timer);
    const leftMs = Math.min(bodyTimeoutMs, this.startedMs + timeoutMs - performance.now());
    this.timer = setTimeout(outOfTime, Math.max(leftMs, 1), this);
  }

  ended(error: Error | null): void {
    this.end(
      error ?? new SendError('connection_reset', 'the receiver closed the connection'),
      this.reader.endsWithConnection,
    );
  }

  /** Ends it without the rest of the answer, unless it has ended. */
  giveUp(): void {
    const { timeoutMs } = this.limits;
    const category = this.connection === null ? 'connect_timeout' : 'response_timeout';
    this.end(new SendError(category, `no answer within ${timeoutMs} ms`), false);
  }

  /** @param error why there is no answer, if there is none. */
  private end(error: unknown, isComplete: boolean): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearTimeout(this.timer);
    const { connection, reader } = this;
    const { answer } = reader;
    const settle = (): void => {
      if (connection !== null) this.connections.release(connection, reader.isDone ? reader.reusableMs : 0);
      const remoteAddress = connection?.remoteAddress ?? null;
      this.resolve({ answer, error: answer === null ? error : null, remoteAddress, isComplete });
    };
    // What the receiver sent together with the answer, such as the connection's end, is read before the connection is used again.
    if (reader.isDone) setImmediate(settle);
    else settle();
  }
}

/** After the process was frozen, an answer that has arrived is read before the request times out. */
function outOfTime(late: Exchange): void {
  setImmediate(() => late.giveUp());
}
