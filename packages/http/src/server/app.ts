import express from 'express';
import type { Express, NextFunction, Request, Response } from 'express';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { tracer } from '@quittance/runtime/tracing/tracing.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { authenticate, requireAccess, type Asking } from './authenticate.ts';
import { bindCaller, restartPublicCaller } from './bind-caller.ts';
import { readBody } from './body.ts';
import { causesOf, errorBody, HttpError, RequestAborted, unavailable } from '../errors.ts';
import { headerValues } from '../headers.ts';
import { probes } from './probes.ts';
import { observeRequests, traceRequests } from './observe-requests.ts';
import { closeUnreadBody, sendReply } from './reply.ts';
import type { Route, RouteRequest } from './route.ts';
import type { LegacyRecord } from './internal-routes.ts';

/**
 * A reader on a slow connection reads a few kilobytes a second, and the system's buffers may hide that for a minute.
 */
const STREAM_STALLED_MS = 120_000;

/**
 * The HTTP side of a service: its routes and, around them, /livez, /readyz, /metrics, X-Request-ID, JSON errors (404,
 * 405 with Allow, 500, 503), request metrics and one log line per request. Paths match exactly: case and trailing
 * slashes count.
 * @param trust the keys and tokens that are accepted on routes under /internal/, else 401. Processes may make the calls
 *   that name them, and people the calls of their role, else 403.
 * @param legacy records callers that are accepted only because INTERNAL_TOKEN is set.
 * @param publicTimeoutMs the time in which requests from outside are answered. Nothing is committed after it.
 * @param streamStalledMs how long a stream may make no progress, whether its reader or its source has stopped.
 * @param withProbes whether /livez, /readyz and /metrics are served here. Turn it off for a listener that is directly
 *   reachable by the public; such a process serves them on a separate port, see listenForProbes().
 * @param ready throws while the service can't do its work; limited to one second.
 * @param isUnavailable which errors of the service's libraries are answered with 503, such as a lost database.
 */
export function createApp({
  name,
  logger,
  metrics,
  routes,
  trust,
  legacy,
  publicTimeoutMs = Infinity,
  streamStalledMs = STREAM_STALLED_MS,
  withProbes = true,
  ready,
  isUnavailable = () => false,
}: {
  name: string;
  logger: Logger;
  metrics: Metrics;
  routes: readonly Route[];
  trust?: Trust;
  legacy?: Pick<LegacyRecord, 'accepted'>;
  publicTimeoutMs?: number;
  streamStalledMs?: number;
  withProbes?: boolean;
  ready: () => Promise<unknown>;
  isUnavailable?: (error: unknown) => boolean;
}): Express {
  const app = express();
  app.locals.streamStalledMs = streamStalledMs;
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.enable('strict routing');

  app.use(observeRequests({ logger, metrics }));
  app.use(closeUnreadBody);
  app.use(rejectAmbiguousFraming);
  if (trust !== undefined) app.use('/internal', authenticate(name, trust, routes, legacy));
  const tracing = tracer();
  if (tracing !== null) app.use(traceRequests(tracing));
  app.use(bindCaller(publicTimeoutMs));

  const own = withProbes ? probes({ name, logger, metrics, ready, stopping: () => isStopping(app) }) : [];
  const all = [...own, ...routes];
  const exposed = all.find(({ path }) => path.startsWith('/internal/'));
  if (exposed && trust === undefined)
    throw new Error(`${exposed.path} would be public: createApp must know whom to trust`);
  mount(app, all, logger);
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (error instanceof RequestAborted || response.destroyed) logger.debug({ error }, 'request aborted by the client');
    // Part of the answer was already sent: the framework closes the connection.
    else if (response.headersSent) next(error);
    else sendError(response, toHttpError(error, isUnavailable), logger);
  });
  return app;
}

/** Adds the routes in the given order. A request that matches none is 405 if its path has another method, else 404. */
function mount(app: Express, routes: readonly Route[], logger: Logger): void {
  for (const route of routes) {
    const { method, path, handle, publicTimeoutMs } = route;
    app[methodNames[method]](path, async (request: Request, response: Response) => {
      response.locals.route = path;
      const params = request.params as Record<string, string>;
      requireAccess(askingOf(response), route, params);
      if (publicTimeoutMs !== undefined) restartPublicCaller(request, response, publicTimeoutMs);
      sendReply(response, await handle(toRouteRequest(request, response)), (error) =>
        logger.warn({ error, route: path }, 'an answer broke off'),
      );
    });
  }
  // Reached only when no route has answered.
  for (const { method, path } of routes) {
    app.all(path, (_request, response, next) => {
      response.locals.route = path;
      ((response.locals.allow ??= new Set<string>()) as Set<string>).add(method === 'GET' ? 'GET, HEAD' : method);
      next();
    });
  }
  app.use((_request, response) => {
    const allow = response.locals.allow as Set<string> | undefined;
    throw allow ? new HttpError(405, 'Method not allowed', { allow: [...allow].join(', ') }) : notFound();
  });
}

const methodNames = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

function isStopping(app: Express): boolean {
  return (app.locals.stopping as AbortSignal | undefined)?.aborted ?? false;
}

function notFound(): HttpError {
  return new HttpError(404, 'Not found');
}

function toHttpError(error: unknown, isUnavailable: (error: unknown) => boolean): HttpError {
  if (error instanceof HttpError) return error;
  if (isUnavailable(error)) return unavailable(error);
  // A path with invalid percent-encoding matches nothing. The router reports it as a URIError.
  if (error instanceof URIError) return notFound();
  return internalError(error);
}

function internalError(cause?: unknown): HttpError {
  return new HttpError(500, 'Internal error', {}, { cause });
}

function sendError(response: Response, error: HttpError, logger: Logger): void {
  // Outages cause many errors: one line each, without the stack that a bug of ours gets.
  if (error.status === 503)
    logger.warn({ reason: causesOf(error).map(({ message }) => message) }, 'request failed for now');
  else if (error.status >= 500) logger.error({ error: error.cause ?? error }, 'request failed');
  try {
    sendReply(response, { status: error.status, body: errorBody(error), headers: error.headers });
  } catch (failure) {
    logger.error({ error: failure }, 'an error could not be answered');
    sendReply(response, { status: 500, body: errorBody(internalError()) });
  }
}

const askingOf = (response: Response): Asking => (response.locals.asking as Asking | undefined) ?? null;

function toRouteRequest(request: Request, response: Response): RouteRequest {
  const asking = askingOf(response);
  const queryStart = request.url.indexOf('?');
  let reading: ReturnType<typeof readBody> | undefined;
  return {
    method: request.method,
    path: request.path,
    params: request.params as Record<string, string>,
    query: new URLSearchParams(queryStart === -1 ? '' : request.url.slice(queryStart + 1)),
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    requestId: response.locals.requestId as string,
    remoteAddress: request.socket.remoteAddress ?? 'unknown',
    principal: asking !== null && 'person' in asking ? asking.person : null,
    readBody: async (maxBytes) => {
      const body = await (reading ??= readBody(request, maxBytes));
      restartPublicCaller(request, response);
      return body;
    },
  };
}

/**
 * Refuses a request that another HTTP parser could read differently: one without exactly one valid Host (optional only
 * in HTTP/1.0), or with a transfer coding that is still applied. Where such a request ends is unknown, so its
 * connection is closed. The connection is also closed for an upgrade offer, because after it Node no longer reports
 * bytes that it can't parse.
 */
function rejectAmbiguousFraming(request: Request, response: Response, next: NextFunction): void {
  const { headers, rawHeaders, httpVersion } = request;
  const [host, ...others] = headerValues(rawHeaders, 'host');
  const isHostSound = host === undefined ? httpVersion === '1.0' : others.length === 0 && /^[\w.:[\]-]+$/.test(host);
  const coding = headers['transfer-encoding'] ?? 'chunked';
  const isAmbiguous = !isHostSound || coding.toLowerCase() !== 'chunked';
  if (isAmbiguous || headers.upgrade !== undefined) response.setHeader('connection', 'close');
  if (isAmbiguous) throw new HttpError(400, 'Bad request');
  next();
}
