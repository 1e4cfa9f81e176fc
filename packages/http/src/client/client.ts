import { setTimeout as pause } from 'node:timers/promises';
import CircuitBreaker from 'opossum';

import type { Call, ResponseOf } from '@quittance/contracts/call.ts';
import { CallerGone } from '@quittance/runtime/concurrency/caller.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

import type { ShowCaller } from '../call-token.ts';
import { startCall } from './call-span.ts';
import {
  callHeaders,
  readAnswer,
  requestOf,
  type Given,
  type ServiceRequest,
  type ServiceResponse,
} from './request.ts';
import { openStream, type StreamResponse } from './stream.ts';
import { createTransport, readAll, type Transport } from './transport.ts';
import { startWaiting } from './waiting.ts';
import { causesOf, HttpError } from '../errors.ts';

/** Below the two seconds in which a caller must have an answer, whatever fails. */
const DEFAULT_TIMEOUT_MS = 1_500;
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;
/** A random pause of up to this time, so that calls that failed together don't retry together. */
const MAX_RETRY_PAUSE_MS = 50;

/**
 * The connection was refused, or no server was found. The request was never sent, so sending it again is always safe.
 */
const unsentCodes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];
/** The connection broke. Whether the request was processed is unknown. */
const brokenCodes = ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT'];

/** Makes the internal calls that contracts declares. */
export type ServiceCalls = {
  /**
   * Makes a call and returns the unchanged answer, with any status below 500.
   * @throws ServiceUnavailable for a 5xx, a network error, a timeout, or while the circuit breaker is open.
   */
  send<C extends Call>(call: C, ...given: Given<C>): Promise<ServiceResponse>;
  /**
   * Makes a call. @throws ServiceUnavailable for any answer that isn't a success, because the caller then knows no more
   * than without one.
   */
  call<C extends Call>(call: C, ...given: Given<C>): Promise<ResponseOf<C>>;
  /** Like `call`, with null for a 404. */
  find<C extends Call>(call: C, ...given: Given<C>): Promise<ResponseOf<C> | null>;
  /**
   * Like `send`, for an answer of any length, which is read as it arrives. The deadline is for the start of the answer.
   * The caller must read the body to its end or destroy it.
   */
  stream<C extends Call>(call: C, ...given: Given<C>): Promise<StreamResponse>;
};

export type ServiceClient = ServiceCalls & {
  /** The same calls, made as an operator, who may make only the calls of the operator's role. */
  as(operatorToken: string): ServiceCalls;
  close(): void;
};

/** Another service gave no usable answer. Its caller answers 503. `cause` says why. */
export class ServiceUnavailable extends HttpError {
  readonly service: string;
  constructor(service: string, options?: ErrorOptions) {
    super(503, 'Service temporarily unavailable', {}, options);
    this.name = 'ServiceUnavailable';
    this.message = `${service} is unavailable`;
    this.service = service;
  }

  /** Whether the request reached no server, and so had no effect. */
  get wasNeverSent(): boolean {
    return causesOf(this).some((cause) => unsentCodes.includes(String((cause as { code?: unknown }).code)));
  }
}

/** The service answered with a 5xx. */
class ErrorAnswer extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`it answered ${status}`);
    this.status = status;
  }
}

type ClientParts = {
  name: string;
  baseUrl: string;
  showCaller: ShowCaller | null;
  timeoutMs?: number;
  logger: Logger;
  metrics: Metrics;
};

/**
 * Calls one other service. Each request has one deadline for everything: waiting for a connection, one retry where that
 * is safe, and reading the answer. The deadline is never later than that of the current request. The call ends when the
 * current request's caller hangs up. The remaining time is sent along, so that the service commits nothing for a call
 * that has ended. For a call that changes something, the client waits a little longer for the answer, so that a stored
 * change is not reported as a failure.
 * When half of at least ten requests in ten seconds have failed, requests fail immediately, and one a second is sent to
 * check whether the service is back. Answers below 500 count as success. So does a 503 in time: the service is running,
 * and a problem with one merchant must not cut off the others.
 * @param showCaller null for a process without a key: it makes only calls as a person, and calls that are open to
 *   anyone.
 * @param timeoutMs the deadline, 1500 by default.
 */
export function createServiceClient({
  name,
  baseUrl,
  showCaller,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  logger,
  metrics,
}: ClientParts): ServiceClient {
  const transport = createTransport(baseUrl, { timeoutMs });
  const durations = metrics.histogram('http_client_request_duration_seconds', 'Duration of calls to other services', [
    'client',
    'method',
    'status',
  ]);

  async function exchange(request: ServiceRequest, url: URL): Promise<ServiceResponse> {
    const end = durations.startTimer({ client: name, method: request.method });
    const span = startCall(name, request.method, url);
    try {
      const response = await transmit(transport, request, url, {
        showCaller,
        timeoutMs,
        traceparent: span?.traceparent,
      });
      end({ status: String(response.status) });
      span?.answered(response.status);
      if (response.status < 500) return response;
      throw new ErrorAnswer(response.status);
    } catch (error) {
      if (!(error instanceof ErrorAnswer)) {
        end({ status: 'error' });
        span?.failed(error);
      }
      throw error;
    }
  }

  const breaker = createBreaker(exchange, name, logger, metrics);

  async function request(asked: ServiceRequest): Promise<ServiceResponse> {
    const url = toUrl(baseUrl, asked);
    try {
      return await breaker.fire(asked, url);
    } catch (error) {
      throw new ServiceUnavailable(name, { cause: error });
    }
  }

  const open = (asked: ServiceRequest) => openStream(asked, toUrl(baseUrl, asked), { showCaller, timeoutMs });
  const calls = (operator: Pick<ServiceRequest, 'operatorToken'>): ServiceCalls => ({
    ...callsOf(name, (asked) => request({ ...asked, ...operator })),
    stream: streamOf(name, (asked) => open({ ...asked, ...operator })),
  });

  return {
    ...calls({}),
    as: (operatorToken) => calls({ operatorToken }),
    close() {
      breaker.shutdown();
      transport.close();
    },
  };
}

/** Makes declared calls with plain requests. */
function callsOf(
  name: string,
  request: (request: ServiceRequest) => Promise<ServiceResponse>,
): Omit<ServiceCalls, 'stream'> {
  function read<C extends Call>(call: C, answer: ServiceResponse): ResponseOf<C> {
    try {
      return readAnswer(call, answer);
    } catch (error) {
      throw new ServiceUnavailable(name, { cause: error });
    }
  }

  const send: ServiceCalls['send'] = (call, ...[input]) => request(requestOf(call, input));
  return {
    send,
    call: async (call, ...given) => read(call, await send(call, ...given)),
    async find(call, ...given) {
      const answer = await send(call, ...given);
      return answer.status === 404 ? null : read(call, answer);
    },
  };
}

function streamOf(name: string, open: (asked: ServiceRequest) => Promise<StreamResponse>): ServiceCalls['stream'] {
  return async (call, ...[input]) => {
    try {
      return await open(requestOf(call, input));
    } catch (error) {
      throw new ServiceUnavailable(name, { cause: error });
    }
  };
}

async function transmit(
  transport: Transport,
  request: ServiceRequest,
  url: URL,
  {
    showCaller,
    timeoutMs,
    traceparent,
  }: { showCaller: ShowCaller | null; timeoutMs: number; traceparent: string | undefined },
): Promise<ServiceResponse> {
  const wait = startWaiting(timeoutMs, { mayCommit: request.changes });
  const { signal } = wait;
  async function attempt(): Promise<ServiceResponse> {
    const headers = callHeaders(request, showCaller, wait.remainingMs(), traceparent);
    const answer = await transport.open(request, url, { headers, signal });
    const body = await readAll(answer, MAX_RESPONSE_BYTES);
    return { status: answer.statusCode ?? 0, headers: answer.headers, body };
  }
  try {
    return await attempt().catch(async (error: unknown) => {
      if (signal.aborted || !mayRepeat(request, error)) throw error;
      await pause(Math.random() * MAX_RETRY_PAUSE_MS, undefined, { signal });
      return attempt();
    });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    wait.end();
  }
}

function mayRepeat({ idempotent }: ServiceRequest, error: unknown): boolean {
  const code = String((error as { code?: unknown }).code);
  return unsentCodes.includes(code) || (idempotent && brokenCodes.includes(code));
}

/** Refuses a path that would change its meaning as part of a URL, such as one with an unencoded `..` or `?`. */
function toUrl(baseUrl: string, { path, query }: ServiceRequest): URL {
  const url = new URL(baseUrl + path);
  if (!path.startsWith('/') || url.href !== baseUrl + path) throw new TypeError(`not an encoded path: ${path}`);
  if (path.includes('?') || path.includes('#')) throw new TypeError(`the path must not contain a query: ${path}`);
  url.search = query.toString();
  return url;
}

function createBreaker(
  exchange: (request: ServiceRequest, url: URL) => Promise<ServiceResponse>,
  name: string,
  logger: Logger,
  metrics: Metrics,
): CircuitBreaker<[ServiceRequest, URL], ServiceResponse> {
  const open = metrics.gauge('http_client_breaker_open', '1 while calls to the service fail at once', ['client']);
  open.set({ client: name }, 0);
  const breaker = new CircuitBreaker(exchange, {
    name,
    // exchange() has its own deadline, which also stops the work.
    timeout: false,
    volumeThreshold: 10,
    errorThresholdPercentage: 50,
    rollingCountTimeout: 10_000,
    resetTimeout: 1_000,
    errorFilter: (error: unknown) =>
      error instanceof CallerGone || (error instanceof ErrorAnswer && error.status === 503),
  });
  breaker.on('open', () => {
    open.set({ client: name }, 1);
    logger.warn({ client: name }, 'calls fail at once until the service answers again');
  });
  breaker.on('close', () => {
    open.set({ client: name }, 0);
    logger.info({ client: name }, 'the service answers again');
  });
  return breaker;
}
