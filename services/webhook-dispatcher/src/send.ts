import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Agent } from 'undici';
import type { buildConnector } from 'undici';
import type { ErrorCategory } from '@quittance/contracts/webhook.ts';
import type { Clock } from '@quittance/runtime/clock.ts';
import { parseRetryAfter } from './backoff.ts';
import { DialError } from './dial-error.ts';
import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import { categoryOfSendError, categoryOfStatus } from './error-category.ts';
import { deliveryHeaders } from './signature.ts';

/** One POST to be made. */
type Attempt = {
  eventId: string;
  url: string;
  keyId: string;
  /** The signing key in clear; it lives only as long as the attempt. */
  secret: string;
  body: Buffer;
};

/** What came of it. */
export type AttemptResult = {
  /** Null for a 2xx. */
  errorCategory: ErrorCategory | null;
  httpStatus: number | null;
  retryAfterSeconds: number | null;
  durationMs: number;
  /** The address that got the request, once one did. */
  remoteAddress: string | null;
  /** What failed, for the log; the merchant reads the category. */
  error: unknown;
};

export type Sender = {
  /** Makes one POST, never a second one, and says how it ended. Never throws; takes 15 s at most, body included. */
  send(attempt: Attempt): Promise<AttemptResult>;
  /** Closes the idle connections. */
  close(): Promise<void>;
};

const ATTEMPT_TIMEOUT_MS = 15_000;
/** What is read of a response's body, only so that its connection can be used again. */
const MAX_BODY_BYTES = 64 * 1024;
/** Connections idle for this long, or older than that, are not used again: names may have got other addresses. */
const MAX_IDLE_MS = 60_000;
const MAX_CONNECTION_AGE_MS = 300_000;

/**
 * @param options.connector decides where connections may lead; see dial.ts.
 * @param options.timeoutMs of a whole attempt, from resolving the name to the end of the response's body.
 */
export function createSender(options: {
  connector: buildConnector.connector;
  clock: Clock;
  connectionsPerHost: number;
  timeoutMs?: number;
}): Sender {
  const { connector, clock, connectionsPerHost, timeoutMs = ATTEMPT_TIMEOUT_MS } = options;
  // undici sends a POST once, follows no redirect and reads no proxy setting. Its own time limits are off: one deadline holds for
  // the whole attempt.
  const agent = new Agent({
    connect: connector,
    connections: connectionsPerHost,
    pipelining: 1,
    allowH2: false,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    clientTtl: MAX_CONNECTION_AGE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const addresses = watchAddresses();

  async function post(attempt: Attempt): Promise<{ httpStatus: number; retryAfterSeconds: number | null }> {
    const check = parseEndpointUrl(attempt.url);
    if (!check.ok)
      throw new DialError('blocked_address', `the endpoint's URL is not allowed any more: ${check.reason}`);
    const now = clock();
    const signal = AbortSignal.timeout(timeoutMs);
    const { statusCode, headers, body } = await agent.request({
      origin: check.endpoint.origin,
      path: check.endpoint.path,
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Quittance',
        ...deliveryHeaders({ ...attempt, now }),
      },
      body: attempt.body,
      signal,
    });
    // The status line has decided. A body that is too long, breaks off or never ends costs the connection and nothing else.
    await body.dump({ limit: MAX_BODY_BYTES, signal }).catch(() => undefined);
    return { httpStatus: statusCode, retryAfterSeconds: parseRetryAfter(headers['retry-after'], now) };
  }

  return {
    async send(attempt) {
      const startedMs = performance.now();
      const ended = (): { durationMs: number; remoteAddress: string | null } => ({
        durationMs: Math.round(performance.now() - startedMs),
        remoteAddress: addresses.take(attempt.eventId),
      });
      try {
        const response = await post(attempt);
        return { ...response, errorCategory: categoryOfStatus(response.httpStatus), error: null, ...ended() };
      } catch (error) {
        const errorCategory = categoryOfSendError(error);
        return { errorCategory, httpStatus: null, retryAfterSeconds: null, error, ...ended() };
      }
    },
    async close() {
      addresses.stop();
      await agent.close();
    },
  };
}

/**
 * Remembers which address each event under way was sent to. Only undici's diagnostics channel knows which of the kept connections
 * a request went out on.
 */
function watchAddresses(): { take(eventId: string): string | null; stop(): void } {
  const addresses = new Map<string, string>();
  const sendHeaders = channel('undici:client:sendHeaders');
  const remember = (message: unknown): void => {
    const { headers, socket } = message as { headers: string; socket: Socket };
    const eventId = /^X-Service-Event-ID: (.*)\r$/m.exec(headers)?.[1];
    if (eventId !== undefined && socket.remoteAddress !== undefined) addresses.set(eventId, socket.remoteAddress);
  };
  sendHeaders.subscribe(remember);
  return {
    take(eventId) {
      const address = addresses.get(eventId) ?? null;
      addresses.delete(eventId);
      return address;
    },
    stop() {
      sendHeaders.unsubscribe(remember);
    },
  };
}
