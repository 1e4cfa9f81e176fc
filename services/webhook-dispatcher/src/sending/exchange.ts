import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Connections } from './connections.ts';
import { DialError } from './errors.ts';

/** What came of one request: an answer, or the reason why there is none. */
export type Exchanged = {
  answer: { status: number; headers: IncomingHttpHeaders } | null;
  /** Null with an answer. */
  error: unknown;
  /** The address that got the request, once one did. */
  remoteAddress: string | null;
};

export type ExchangeLimits = {
  /** From now to the end of the answer's body: the resolving of the name and connecting are part of it. */
  timeoutMs: number;
  /** For the body, once the status line is there. */
  bodyTimeoutMs: number;
};

/** What is read of an answer's body, only so that its connection can be used again. */
const MAX_BODY_BYTES = 64 * 1024;
/** 100, 102 and 103 come before an answer, once or a few times. */
const MAX_INTERIM_ANSWERS = 16;

/**
 * Makes one request and waits for its answer. The status line decides; an answer whose body is too long, breaks off or does not
 * end costs the connection and nothing else. Never throws.
 */
export function exchange(
  connections: Connections,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
): Promise<Exchanged> {
  return new Promise((resolve) => connections.dispatch(request, new Exchange(connections, limits, resolve)));
}

/** Holds the request's deadline and its connection until it is over. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly connections: Connections;
  private readonly limits: ExchangeLimits;
  private readonly resolve: (exchanged: Exchanged) => void;
  private readonly startedMs = performance.now();
  private timer: NodeJS.Timeout;
  private over = false;
  private error: Error | null = null;
  private controller: Dispatcher.DispatchController | null = null;
  private socket: Socket | null = null;
  private remoteAddress: string | null = null;
  private interimAnswers = 0;
  private answer: Exchanged['answer'] = null;
  private bodyBytes = 0;

  constructor(connections: Connections, limits: ExchangeLimits, resolve: (exchanged: Exchanged) => void) {
    this.connections = connections;
    this.limits = limits;
    this.resolve = resolve;
    this.timer = setTimeout(outOfTime, limits.timeoutMs, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // It was given up while it waited for a connection, and must not go out any more.
    if (this.over) {
      controller.abort(new Error('given up'));
      return;
    }
    this.controller = controller;
    this.connections.onCarrier((socket) => {
      this.socket = socket;
      this.remoteAddress = socket.remoteAddress ?? null;
    });
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (this.over) return;
    if (status < 200) {
      this.interimAnswers += 1;
      if (this.interimAnswers > MAX_INTERIM_ANSWERS) this.giveUp(new Error('interim answers, and no end of them'));
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
    if (this.over) return;
    this.end(null);
    if (this.socket !== null) this.connections.rest(this.socket);
    // undici frees the connection in an immediate of its own, set after this call and before the microtask. Whoever then sends the
    // next event to this host finds it free; a moment earlier it would have opened one more.
    queueMicrotask(() => setImmediate(tell, this));
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.over) return;
    this.end(error);
    this.tell();
  }

  /** Ends what is not over yet, and its connection with it. @param error why, when there is no answer. */
  giveUp(error: Error | null): void {
    if (this.over) return;
    this.end(error);
    this.tell();
    this.controller?.abort(error ?? new Error('its answer is known'));
  }

  timeoutError(): Error {
    const { timeoutMs } = this.limits;
    if (this.controller === null) return new DialError('connect_timeout', `no connection within ${timeoutMs} ms`);
    return new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError');
  }

  private end(error: Error | null): void {
    this.over = true;
    this.error = error;
    clearTimeout(this.timer);
  }

  tell(): void {
    const { answer, error, remoteAddress } = this;
    this.resolve({ answer, error: answer === null ? error : null, remoteAddress });
  }
}

const tell = (ended: Exchange): void => ended.tell();

/** After a process stood still, an answer that came in the meantime is read before its time counts as over. */
function outOfTime(late: Exchange): void {
  setImmediate(() => late.giveUp(late.timeoutError()));
}
