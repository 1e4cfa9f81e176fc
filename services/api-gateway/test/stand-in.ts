import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

type Received = { method: string; path: string; query: string; headers: IncomingHttpHeaders; body: string };
type Answer = { status: number; body: unknown; headers?: Record<string, string> };

/** A service behind the gateway, on a real socket: it gives the configured answers and records its requests. */
export type StandIn = {
  url: string;
  received: Received[];
  /** @param route method and path, for example 'GET /internal/v1/x'; an unknown one gets 404. A string body is sent unchanged; 'silence' never answers. */
  answers: Map<string, Answer | 'silence'>;
  close(): Promise<void>;
};

export async function standIn(): Promise<StandIn> {
  const received: Received[] = [];
  const answers: StandIn['answers'] = new Map();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://stand-in');
      const { method = '', headers } = request;
      const call = { method, path: url.pathname, query: url.search, headers, body: Buffer.concat(chunks).toString() };
      received.push(call);
      const known = answers.get(`${method} ${url.pathname}`) ?? { status: 404, body: { detail: 'nothing here' } };
      if (known === 'silence') return;
      response.writeHead(known.status, { 'content-type': 'application/json', ...known.headers });
      response.end(typeof known.body === 'string' ? known.body : JSON.stringify(known.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
