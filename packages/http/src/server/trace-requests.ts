import type { NextFunction, Request, Response } from 'express';

import {
  inSpan,
  readTraceparent,
  type Span,
  type SpanOrigin,
  type Tracer,
} from '@quittance/runtime/tracing/tracing.ts';

import { quietRoutes } from './observe-requests.ts';

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
