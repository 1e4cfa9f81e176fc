import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Logger } from '@quittance/runtime/logger.ts';

type Refusal = { status: string; detail: string; headers?: string[] };

const badRequest: Refusal = { status: '400 Bad Request', detail: 'Bad request' };
const methodNotAllowed: Refusal = {
  status: '405 Method Not Allowed',
  detail: 'Method not allowed',
  headers: ['Allow: GET, HEAD, POST, PUT'],
};
const refusals: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', detail: 'Request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', detail: 'Request took too long to arrive' },
};

/**
 * Answers what never becomes a request: bytes that are no HTTP, headers that are too large or too slow. Node alone would answer
 * with a bare status line; every answer of ours has a JSON body and an X-Request-ID.
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
      // What was wrong with the request has its answer; it may still be on its way out.
      socket.end(() => socket.destroy());
    } else socket.destroy();
  });
  // Node takes this for a wish to tunnel, hands the bare socket over and makes no request of it.
  server.on('connect', (_request, socket) => {
    // Node listens no longer, and an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
    socket.end(toText(methodNotAllowed), () => socket.destroy());
  });
}

/** Whether a whole answer can be written: inside another one, or after that of the same request, it would corrupt the connection. */
function isBetweenAnswers(last: ServerResponse | undefined): boolean {
  return last === undefined || !last.headersSent || (last.writableFinished && last.req.complete);
}

function toText({ status, detail, headers = [] }: Refusal): string {
  const body = JSON.stringify({ detail });
  return [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-ID: ${randomUUID()}`,
    'Connection: close',
    ...headers,
    '',
    body,
  ].join('\r\n');
}
