import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import type { ErrorCategory } from '@quittance/contracts/webhook.ts';
import type { Clock } from '@quittance/runtime/time.ts';
import { createConnections } from './connections.ts';
import type { Connector } from './dial.ts';
import { categoryOfSendError, categoryOfStatus, codeOfSendError, SendError } from './errors.ts';
import { exchange, type Exchanged } from './exchange.ts';
import { findPrivateTarget, type PrivateTarget } from './private-targets.ts';
import { deliveryHeaders } from './signature.ts';

/** One POST to make. */
type Attempt = {
  eventId: string;
  /** The endpoint's merchant: only this one may reach its private target. */
  merchantId: string;
  url: string;
  keyId: string;
  /** The signing key in plain text, only during the attempt. */
  secret: string;
  body: Buffer;
};

export type AttemptResult = {
  /** Null for a 2xx. */
  errorCategory: ErrorCategory | null;
  httpStatus: number | null;
  retryAfterSeconds: number | null;
  durationMs: number;
  /** Whether the whole answer arrived; the result may be known before. */
  isComplete: boolean;
  /** The address that received the request; null if none did. */
  remoteAddress: string | null;
  /** The code of the error, from Node or the HTTP client, for the log. Merchants read the category. */
  errorCode: string | null;
};

export const ATTEMPT_TIMEOUT_MS = 15_000;
/**
 * For the body of an answer. It is only read to reuse the connection, so a receiver with slow bodies must not occupy its lane for the rest of
 * the fifteen seconds.
 */
const BODY_TIMEOUT_MS = 2_000;

export type Sender = ReturnType<typeof createSender>;

/**
 * @param options.connector decides where connections may lead; see dial.ts.
 * @param options.privateTargets the exceptions, each for one merchant, with their own connectors.
 * @param options.timeoutMs for a whole attempt, from resolving the name to the end of the response's body.
 * @param options.bodyTimeoutMs for the body.
 */
export function createSender(options: {
  connector: Connector;
  clock: Clock;
  privateTargets?: readonly (PrivateTarget & { connector: Connector })[];
  timeoutMs?: number;
  bodyTimeoutMs?: number;
}) {
  const { connector, clock, privateTargets = [] } = options;
  const { timeoutMs = ATTEMPT_TIMEOUT_MS, bodyTimeoutMs = BODY_TIMEOUT_MS } = options;
  const connections = createConnections({ connector });
  // Separate connections for each target, because connections to one host are shared, and no other merchant may use them.
  const targets = privateTargets.map((target) => ({
    ...target,
    connections: createConnections(target),
  }));
  const limits = { timeoutMs, bodyTimeoutMs };

  async function post(attempt: Attempt): Promise<Exchanged> {
    const targetAt = (host: string) => findPrivateTarget(targets, attempt.merchantId, host);
    const check = parseEndpointUrl(attempt.url, (host) => targetAt(host) !== undefined);
    if (!check.ok) {
      const error = new SendError('blocked_address', `the endpoint's URL is not allowed any more: ${check.reason}`);
      return { answer: null, error, remoteAddress: null, isComplete: false };
    }
    const { path, host } = check.endpoint;
    const headers = { ...commonHeaders, ...deliveryHeaders({ ...attempt, now: clock() }) };
    const by = targetAt(host)?.connections ?? connections;
    return exchange(by, { host, path, headers, body: attempt.body }, limits);
  }

  return {
    /** Makes exactly one POST. Never throws; takes at most 15 s, including the body. */
    async send(attempt: Attempt): Promise<AttemptResult> {
      const startedMs = performance.now();
      const { answer, error, remoteAddress, isComplete } = await post(attempt);
      const ended = { durationMs: Math.round(performance.now() - startedMs), isComplete, remoteAddress };
      if (answer === null) {
        const [errorCategory, errorCode] = [categoryOfSendError(error), codeOfSendError(error)];
        return { ...ended, errorCategory, errorCode, httpStatus: null, retryAfterSeconds: null };
      }
      const { status: httpStatus, retryAfter } = answer;
      const retryAfterSeconds = parseRetryAfter(retryAfter, clock());
      return { ...ended, errorCategory: categoryOfStatus(httpStatus), errorCode: null, httpStatus, retryAfterSeconds };
    },
    /** Closes the idle connections. */
    async close(): Promise<void> {
      await Promise.all([connections, ...targets.map((target) => target.connections)].map((one) => one.close()));
    },
  };
}

const commonHeaders = { 'Content-Type': 'application/json', 'User-Agent': 'Quittance' };

/**
 * Reads a Retry-After header (RFC 9110, 10.2.3): seconds, or a date.
 * @returns seconds from now, never negative; null if it is missing or invalid.
 */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // Date.parse accepts far more than HTTP dates, which begin with a weekday.
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, (date - now.getTime()) / 1000);
}
