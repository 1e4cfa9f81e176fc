import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { withRequestId, type Logger } from '@quittance/runtime/logger.ts';
import { actorOf } from '@quittance/contracts/principal.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import {
  inSpan,
  type Span,
  readTraceparent,
  type SpanOrigin,
  type Tracer,
} from '@quittance/runtime/tracing/tracing.ts';
import type { Asking } from './authenticate.ts';

/** Requested every few seconds by machines; logged only at debug level, and not traced. */
const quietRoutes = ['/livez', '/readyz', '/metrics'];

/**
 * Gives every request an id, and afterwards one log line and its metrics. Both have the route's pattern and never the
 * path: a path may contain a payment's public token, and has an unlimited number of values.
 */
export function observeRequests({ logger, metrics }: { logger: Logger; metrics: Metrics }) {
  const durations = metrics.histogram('http_request_duration_seconds', 'Duration of HTTP requests answered', [
    'method',
    'route',
    'status',
  ]);
  const inFlight = metrics.gauge('http_requests_in_flight', 'HTTP requests being answered');

  return (request: Request, response: Response, next: NextFunction) => {
    const startedAt = performance.now();
    const requestId = acceptRequestId(request.headers['x-request-id']) ?? randomUUID();
    response.locals.requestId = requestId;
    response.setHeader('x-request-id', requestId);
    inFlight.inc();
    response.once('close', () => {
      inFlight.dec();
      const seconds = (performance.now() - startedAt) / 1000;
      const route = (response.locals.route as string | undefined) ?? 'unmatched';
      // 499, like common proxies log it: the client left before it had its answer.
      const status = response.writableFinished ? response.statusCode : 499;
      const { method } = request;
      durations.observe({ method, route, status: String(status) }, seconds);
      const level = quietRoutes.includes(route) ? 'debug' : 'info';
      withRequestId(requestId, () => {
        inSpan(response.locals.span as Span | undefined, () => {
          const duration = { duration_ms: Math.round(seconds * 10_000) / 10 };
          logger[level]({ method, route, status, ...duration, ...whoOf(response) }, 'request');
        });
      });
    });
    withRequestId(requestId, next);
  };
}

/** The person who makes the request, named as in the audit log. */
function whoOf({ locals }: Response): { who?: string } {
  const asking = (locals.asking ?? null) as Asking;
  return asking !== null && 'person' in asking ? { who: actorOf(asking.person) } : {};
}

/** The caller's request id, if it is safe in headers and logs. */
function acceptRequestId(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(header) ? header : null;
}

/**
 * Starts one span per request, named by the route's pattern and never by the path, which may contain a payment's public
 * token. Runs after the internal token was checked: a caller under /internal/ is one of our services, whose trace is
 * continued. Any other traceparent is ignored, so that no outsider decides what is exported or links our traces to
 * others.
 */
export function traceRequests(tracer: Tracer) {
  return (request: Request, response: Response, next: NextFunction) => {
    if (quietRoutes.includes(request.path)) {
      next();
      return;
    }
    const method = methods.has(request.method) ? request.method : '_OTHER';
    const attributes = { 'http.request.method': method, 'url.scheme': 'http' };
    const span = tracer.start(method, 'server', { origin: originOf(request), attributes });
    response.locals.span = span;
    response.once('close', () => describe(span, method, response));
    inSpan(span, next);
  };
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function originOf({ path, headers }: Request): SpanOrigin {
  return { parent: path.startsWith('/internal/') ? readTraceparent(headers.traceparent) : null };
}

function describe(span: Span, method: string, response: Response): void {
  if (span.isSampled) {
    const route = response.locals.route as string | undefined;
    if (route !== undefined) {
      span.rename(`${method} ${route}`);
      span.set({ 'http.route': route });
    }
    const { statusCode: status } = response;
    if (response.writableFinished) span.set({ 'http.response.status_code': status });
    else span.set({ 'error.type': 'client_left' });
    if (response.writableFinished && status >= 500) span.fail(String(status));
  }
  span.end();
}
