import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Logger } from '@quittance/runtime/logger.ts';

type Refusal = { status: string; detail: string };

const badRequest: Refusal = { status: '400 Bad Request', detail: 'Bad request' };
const refusals: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', detail: 'Request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', detail: 'Request took too long to arrive' },
};

/**
 * Answers what never becomes a request: bytes that are no HTTP, headers that are too large or too slow. Node alone would answer
 * with a bare status line; every answer of ours has a JSON body and an X-Request-ID.
 */
export function refuseUnreadable(server: Server, logger: Logger): void {
  const lastResponses = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request, response) => lastResponses.set(request.socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable && isBetweenAnswers(lastResponses.get(socket))) {
      const refusal = refusals[error.code ?? ''] ?? badRequest;
      logger.debug({ code: error.code, status: refusal.status }, 'request refused unread');
      socket.end(toText(refusal), () => socket.destroy());
    } else socket.destroy();
  });
}

/** Whether a whole answer can be written: inside another one, or after that of the same request, it would corrupt the connection. */
function isBetweenAnswers(last: ServerResponse | undefined): boolean {
  return last === undefined || !last.headersSent || (last.writableFinished && last.req.complete);
}

function toText({ status, detail }: Refusal): string {
  const body = JSON.stringify({ detail });
  return [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-ID: ${randomUUID()}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
