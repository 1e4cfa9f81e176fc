import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import type { TLSSocket } from 'node:tls';
import type { Authority } from './certificates.ts';

/** What a raw receiver does after it has read a request: it has the connection, and need not speak HTTP. */
export type Behaviour = (socket: TLSSocket, request: { eventId: string; onThisConnection: number }) => void;

export type RawReceiver = {
  port: number;
  /** Event ids in the order in which whole requests arrived. */
  events: readonly string[];
  connections(): number;
  /** The behaviour from now on; `onConnect` runs right after the handshake. */
  behave(onRequest: Behaviour, onConnect?: (socket: TLSSocket) => void): void;
  close(): void;
};

/** Writes bytes, and leaves the connection open. */
export const say =
  (...lines: string[]): Behaviour =>
  (socket) =>
    void socket.write(lines.join('\r\n'));

/** A TLS server that reads requests and answers with any bytes at any moment. */
export async function startRawReceiver(authority: Authority): Promise<RawReceiver> {
  const context = await authority.contextFor('*.raw.io');
  const events: string[] = [];
  const sockets = new Set<TLSSocket>();
  let connections = 0;
  let onRequest: Behaviour = say('HTTP/1.1 200 OK', 'content-length: 0', '', '');
  let onConnect: (socket: TLSSocket) => void = () => undefined;
  const server = tls.createServer({ SNICallback: (_name, callback) => callback(null, context) }, (socket) => {
    sockets.add(socket);
    connections += 1;
    let onThisConnection = 0;
    let received = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      for (let request = cut(received); request !== null; request = cut(received)) {
        received = request.rest;
        events.push(request.eventId);
        onThisConnection += 1;
        onRequest(socket, { eventId: request.eventId, onThisConnection });
      }
    });
    onConnect(socket);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    events,
    connections: () => connections,
    behave(request, connect = () => undefined) {
      onRequest = request;
      onConnect = connect;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Removes one whole request from the start. */
function cut(received: string): { eventId: string; rest: string } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = received.slice(0, end);
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  if (received.length < end + 4 + length) return null;
  return {
    eventId: /^x-service-event-id: (.*)$/im.exec(head)?.[1] ?? '',
    rest: received.slice(end + 4 + length),
  };
}
