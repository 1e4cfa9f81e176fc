import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Connections } from './connections.ts';
import { DialError } from './errors.ts';

/** The result of one request: an answer, or why there is none. */
export type Exchanged = {
  answer: { status: number; headers: IncomingHttpHeaders } | null;
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
  /** For the body, after the status line. */
  bodyTimeoutMs: number;
};

/** How much of an answer's body is read, only so that the connection can be used again. */
const MAX_BODY_BYTES = 64 * 1024;
/** Statuses 100, 102 and 103 may come a few times before an answer. */
const MAX_INTERIM_ANSWERS = 16;

/**
 * Makes one request and waits for its answer. The status line decides: a body that is too long, incomplete or endless only costs the
 * connection. Never throws.
 */
export function exchange(
  connections: Connections,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
): Promise<Exchanged> {
  return new Promise((resolve) => connections.dispatch(request, new Exchange(connections, limits, resolve)));
}

/** Holds the deadline and the connection of a request until it has ended. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly connections: Connections;
  private readonly limits: ExchangeLimits;
  private readonly resolve: (exchanged: Exchanged) => void;
  private readonly startedMs = performance.now();
  private timer: NodeJS.Timeout;
  private ended = false;
  private error: Error | null = null;
  private controller: Dispatcher.DispatchController | null = null;
  private socket: Socket | null = null;
  private remoteAddress: string | null = null;
  private interimAnswers = 0;
  private answer: Exchanged['answer'] = null;
  private bodyBytes = 0;
  private isComplete = false;

  constructor(connections: Connections, limits: ExchangeLimits, resolve: (exchanged: Exchanged) => void) {
    this.connections = connections;
    this.limits = limits;
    this.resolve = resolve;
    this.timer = setTimeout(outOfTime, limits.timeoutMs, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // It timed out while it waited for a connection, so it must not be sent.
    if (this.ended) {
      controller.abort(new Error('timed out before it was sent'));
      return;
    }
    this.controller = controller;
    this.connections.onSocket((socket) => {
      this.socket = socket;
      this.remoteAddress = socket.remoteAddress ?? null;
    });
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (this.ended) return;
    if (status < 200) {
      this.interimAnswers += 1;
      if (this.interimAnswers > MAX_INTERIM_ANSWERS)
        this.giveUp(new Error(`more than ${MAX_INTERIM_ANSWERS} interim answers`));
      return;
    }
    this.answer = { status, headers };
    if (Number(headers['content-length']) > MAX_BODY_BYTES) {
      this.giveUp(null);
      return;
    }
    const { timeoutMs, bodyTimeoutMs } = this.limits;
    clearTimeout(this.timer);
    const leftMs = Math.min(bodyTimeoutMs, this.startedMs + timeoutMs - performance.now());
    this.timer = setTimeout(outOfTime, Math.max(leftMs, 1), this);
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    if (this.bodyBytes > MAX_BODY_BYTES) this.giveUp(null);
  }

  onResponseEnd(): void {
    if (this.ended) return;
    this.isComplete = true;
    this.end(null);
    if (this.socket !== null) this.connections.markIdle(this.socket);
    // undici frees the connection in a setImmediate that it schedules after this handler and before the microtask. Resolving after that lets
    // the next event to this host use this connection instead of a new one.
    queueMicrotask(() => setImmediate(settle, this));
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.ended) return;
    this.end(error);
    this.settle();
  }

  /** Ends the exchange and its connection, unless it has ended. @param error the reason if there is no answer. */
  giveUp(error: Error | null): void {
    if (this.ended) return;
    this.end(error);
    this.settle();
    this.controller?.abort(error ?? new Error('the rest of the answer is not needed'));
  }

  timeoutError(): Error {
    const { timeoutMs } = this.limits;
    if (this.controller === null) return new DialError('connect_timeout', `no connection within ${timeoutMs} ms`);
    return new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError');
  }

  private end(error: Error | null): void {
    this.ended = true;
    this.error = error;
    clearTimeout(this.timer);
  }

  settle(): void {
    const { answer, error, remoteAddress, isComplete } = this;
    this.resolve({ answer, error: answer === null ? error : null, remoteAddress, isComplete });
  }
}

const settle = (ended: Exchange): void => ended.settle();

/** After the process was frozen, an answer that has arrived is read before the request times out. */
function outOfTime(late: Exchange): void {
  setImmediate(() => late.giveUp(late.timeoutError()));
}
