import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

import { withRequestId } from '@quittance/runtime/logger.ts';
import { actorOf } from '@quittance/contracts/principal.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { inSpan, type Span } from '@quittance/runtime/tracing/tracing.ts';

import type { Asking } from './authenticate.ts';

/** Requested every few seconds by machines; logged only at debug level, and not traced. */
export const quietRoutes = ['/livez', '/readyz', '/metrics'];

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
