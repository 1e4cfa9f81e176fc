import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Logger } from '@quittance/runtime/logger.ts';

import { errorBody, HttpError } from '../errors.ts';
import { STATUS_CODES } from '../node-http.ts';

const badRequest = new HttpError(400, 'Bad request');
const methodNotAllowed = new HttpError(405, 'Method not allowed', { Allow: 'GET, HEAD, POST, PUT, DELETE' });
const refusals: Record<string, HttpError> = {
  HPE_HEADER_OVERFLOW: new HttpError(431, 'Request headers are too large'),
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(408, 'Request took too long to arrive'),
};

/**
 * Answers what never becomes a request: bytes that are not HTTP, headers that are too large or too slow. Node by itself
 * would answer with a bare status line; every answer of ours has a JSON body and an X-Request-ID.
 */
export function rejectUnreadable(server: Server, logger: Logger): void {
  const lastResponses = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request, response) => lastResponses.set(request.socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const last = lastResponses.get(socket);
    if (socket.writable && isBetweenAnswers(last)) {
      const refusal = refusals[error.code ?? ''] ?? badRequest;
      logger.debug({ code: error.code, status: refusal.status }, 'request refused unread');
      socket.end(toText(refusal), () => socket.destroy());
    } else if (last?.writableEnded) {
      // The request already has its answer, which may still be on its way out.
      socket.end(() => socket.destroy());
    } else socket.destroy();
  });
  // Node treats CONNECT as a request for a tunnel: it passes on the raw socket and creates no request.
  server.on('connect', (_request, socket) => {
    // Node no longer listens on the socket, and an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
    socket.end(toText(methodNotAllowed), () => socket.destroy());
  });
}

/**
 * Whether a whole answer can be written. Inside another answer, or after the answer to the same request, it would
 * corrupt the connection.
 */
function isBetweenAnswers(last: ServerResponse | undefined): boolean {
  return last === undefined || !last.headersSent || (last.writableFinished && last.req.complete);
}

function toText(refusal: HttpError): string {
  const { status } = refusal;
  const body = JSON.stringify(errorBody(refusal));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-ID: ${randomUUID()}`,
    'Connection: close',
    ...Object.entries(refusal.headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n');
}
