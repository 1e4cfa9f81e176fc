import type { NextFunction, Request, Response } from 'express';

import type { Reply } from './route.ts';

/** How long the unread rest of a body may keep its connection after the answer. */
const UNREAD_BODY_TIMEOUT_MS = 5_000;

/** Sends a route's reply, unless the client has gone. */
export function sendReply(response: Response, reply: Reply): void {
  if (response.headersSent || response.destroyed) return;
  const { bytes, contentType } = encode(reply.body);
  // Nothing is kept by browsers or proxies unless a route says so: answers hold credentials and states that change.
  const headers: Record<string, string | number> = { 'cache-control': 'no-store' };
  for (const [name, value] of Object.entries(reply.headers ?? {})) headers[name.toLowerCase()] = value;
  if (bytes !== null) {
    headers['content-type'] ??= contentType;
    headers['content-length'] = bytes.length;
  } else if (reply.status !== 204 && reply.status !== 304) {
    headers['content-length'] = 0;
  }
  // A process about to end asks for no further requests on this connection; the client then opens one elsewhere.
  const stopping = response.app.locals.stopping as AbortSignal | undefined;
  if (stopping?.aborted) headers.connection = 'close';
  response.writeHead(reply.status, headers);
  response.end(bytes ?? undefined);
}

function encode(body: unknown): { bytes: Buffer | null; contentType: string } {
  if (body === undefined) return { bytes: null, contentType: '' };
  if (typeof body === 'string') return { bytes: Buffer.from(body), contentType: 'text/plain; charset=utf-8' };
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  return { bytes, contentType: 'application/json; charset=utf-8' };
}

/**
 * A request answered before its body was read (too large, unauthorised) leaves the client sending. The rest is read and thrown
 * away, so that the client gets to see the answer and can go on with the connection; one that never comes to its end is cut off.
 */
export function closeUnreadBody(request: Request, response: Response, next: NextFunction): void {
  response.once('finish', () => {
    if (request.complete) return;
    request.resume();
    const timer = setTimeout(() => {
      if (!request.complete) request.socket.destroy();
    }, UNREAD_BODY_TIMEOUT_MS);
    timer.unref();
  });
  next();
}
