import { pipeline, Readable } from 'node:stream';
import type { NextFunction, Request, Response } from 'express';
import type { Reply } from './route.ts';

/** How long the unread rest of a body may keep its connection open after the answer. */
const UNREAD_BODY_TIMEOUT_MS = 5_000;

/** Sends a route's reply, unless the client has gone. @param onBroken receives the reason when a stream ends early. */
export function sendReply(response: Response, reply: Reply, onBroken?: (error: Error) => void): void {
  if (response.headersSent || response.destroyed) {
    if (reply.body instanceof Readable) reply.body.destroy();
    return;
  }
  const { bytes, contentType } = encode(reply.body);
  // Browsers and proxies cache nothing unless a route says so, because answers contain credentials and changing states.
  const headers: Record<string, string | number> = { 'cache-control': 'no-store' };
  for (const [name, value] of Object.entries(reply.headers ?? {})) headers[name.toLowerCase()] = value;
  if (bytes instanceof Readable) {
    // A proxy that buffers the whole answer would hide that it is coming, and that it broke.
    headers['x-accel-buffering'] = 'no';
  } else if (bytes !== null) {
    headers['content-type'] ??= contentType;
    headers['content-length'] = bytes.length;
  } else if (reply.status !== 204 && reply.status !== 304) {
    headers['content-length'] = 0;
  }
  // A stopping process wants no further requests on this connection; the client opens one elsewhere.
  const stopping = response.app.locals.stopping as AbortSignal | undefined;
  if (stopping?.aborted) headers.connection = 'close';
  response.writeHead(reply.status, headers);
  if (bytes instanceof Readable) sendStream(response, bytes, onBroken);
  else response.end(bytes ?? undefined);
}

/**
 * Sends as fast as the client reads. The regular end of an answer says that it is complete, so a stream that fails or
 * stalls breaks the connection.
 */
function sendStream(response: Response, stream: Readable, onBroken: (error: Error) => void = () => undefined): void {
  if (response.req.method === 'HEAD') {
    stream.destroy();
    response.end();
    return;
  }
  // For Node, any write that continues, however slowly, is progress.
  const { streamStalledMs } = response.app.locals as { streamStalledMs: number };
  response.setTimeout(streamStalledMs, () => response.destroy(new Error('the stream stood still')));
  pipeline(stream, response, (error) => {
    // A client may leave at any time.
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') onBroken(error);
  });
}

function encode(body: unknown): { bytes: Buffer | Readable | null; contentType: string } {
  if (body === undefined) return { bytes: null, contentType: '' };
  if (body instanceof Readable) return { bytes: body, contentType: '' };
  if (typeof body === 'string') return { bytes: Buffer.from(body), contentType: 'text/plain; charset=utf-8' };
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  return { bytes, contentType: 'application/json; charset=utf-8' };
}

/**
 * When a request is answered before its body was read (too large, unauthorised), the client is still sending. The rest
 * is read and discarded, so that the client sees the answer and can reuse the connection. A body that never ends is cut
 * off.
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

/**
 * Makes a body of unknown length from pieces. Each piece is made when the client has room for it. The first is made
 * immediately, so that an error until then gets an ordinary error answer.
 * @param pieces not started yet. Its `finally` runs when the body ends, breaks or is no longer needed.
 * @throws the error of the first piece.
 */
export async function startStream(pieces: AsyncGenerator<Buffer, void>): Promise<Readable> {
  const first = await pieces.next();
  let isFirst = true;
  return new Readable({
    highWaterMark: 1,
    read() {
      const next = isFirst ? Promise.resolve(first) : pieces.next();
      isFirst = false;
      next.then(
        ({ value, done }) => this.push(done ? null : value),
        (error: unknown) => this.destroy(error as Error),
      );
    },
    destroy(error, callback) {
      pieces.return().then(
        () => callback(error),
        (failure: unknown) => callback(error ?? (failure as Error)),
      );
    },
  });
}
