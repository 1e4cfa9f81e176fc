import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string };
/** The answer to one request. A function writes it itself. */
export type Answer =
  | { status?: number; headers?: Record<string, string>; body?: unknown }
  | ((response: ServerResponse) => void);

/** An HTTP server that gives these answers, one for each request, and records its requests. */
export async function apiServer(answers: readonly Answer[]) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request;
      received.push({ method, path: url, headers, body });
      const answer = answers[received.length - 1] ?? {
        status: 500,
        body: { detail: 'unexpected', code: 'internal_error' },
      };
      if (typeof answer === 'function') {
        answer(response);
        return;
      }
      const isText = typeof answer.body === 'string';
      response.writeHead(answer.status ?? 200, {
        'content-type': isText ? 'text/html' : 'application/json',
        ...answer.headers,
      });
      response.end(isText ? answer.body : JSON.stringify(answer.body ?? {}));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
