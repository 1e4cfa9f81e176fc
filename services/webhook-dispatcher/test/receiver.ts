import { createServer } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Authority } from './certificates.ts';

/** A request as the receiver got it. */
export type Received = { host: string; path: string; headers: IncomingHttpHeaders; rawHeaders: string[]; body: Buffer };

/** Answers one request; the body has been read. */
export type Answer = (response: ServerResponse, request: IncomingMessage, received: Received) => void;

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end();

export type Receiver = {
  port: number;
  /** The requests for a host, in order. */
  received(host: string): Received[];
  /** TLS connections for a host. */
  connections(host: string): number;
  /** A host's answers in order; the last one repeats. Without any, a host answers 200. */
  answer(host: string, ...answers: Answer[]): void;
  /** From now on a host called `expired.…` presents a valid certificate. */
  renew(host: string): void;
  close(): Promise<void>;
};

/** Merchants' receivers on one loopback port: a real TLS server with a valid certificate for every requested name. */
export async function startReceiver(authority: Authority, address = '127.0.0.1'): Promise<Receiver> {
  const received: Received[] = [];
  const connections: string[] = [];
  const answers = new Map<string, Answer[]>();
  const renewed = new Set<string>();
  const server = createServer(
    {
      // Announced to the dispatcher, so that its connection stays open until the next event, even on a busy machine.
      keepAliveTimeout: 120_000,
      SNICallback: (name, callback) => {
        const expired = name.startsWith('expired.') && !renewed.has(name);
        const selfSigned = name.startsWith('self-signed.');
        authority.contextFor(name.startsWith('wrong.') ? 'other.io' : name, { expired, selfSigned }).then(
          (context) => callback(null, context),
          (error: unknown) => callback(error as Error),
        );
      },
    },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { headers, rawHeaders } = request;
        const host = headers.host ?? '';
        const current = { host, path: request.url ?? '', headers, rawHeaders, body: Buffer.concat(chunks) };
        received.push(current);
        const left = answers.get(host) ?? [];
        const answer = (left.length > 1 ? left.shift() : left[0]) ?? status(200);
        answer(response, request, current);
      });
    },
  );
  server.on('secureConnection', (socket) => connections.push(String(socket.servername)));
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received: (host) => received.filter((request) => request.host === host),
    connections: (host) => connections.filter((name) => name === host).length,
    answer: (host, ...list) => void answers.set(host, list),
    renew: (host) => void renewed.add(host),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
