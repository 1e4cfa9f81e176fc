import { createServer } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { CertificateAuthority } from '@quittance/local-backends/certificates.ts';
import type { Behaviour, Behaviours } from './behaviour.ts';
import { forward } from './forward.ts';
import type { Mailbox, ReceivedWebhook } from './mailbox.ts';

const maxBodyBytes = 256 * 1024;

/** The TLS side. It has a certificate for any host that a sender asks for, and puts each webhook into the mailbox. */
export async function createWebhookServer({
  authority,
  mailbox,
  behaviours,
}: {
  authority: CertificateAuthority;
  mailbox: Mailbox;
  behaviours: Behaviours;
}): Promise<Server> {
  const secureContextOf = async (name: string) => createSecureContext(await authority.issue(name));
  const server = createServer({
    // For senders that send no host name.
    ...(await authority.issue('localhost')),
    minVersion: 'TLSv1.2',
    SNICallback: (name, done) => {
      secureContextOf(name).then(
        (context) => done(null, context),
        (error: unknown) => done(error as Error),
      );
    },
  });
  const resets = trackConnections(server);
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await receive(request);
    if (body === null) return void response.writeHead(413, { connection: 'close' }).end();
    const host = (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
    const behaviour = behaviours.next(host);
    const webhook: ReceivedWebhook = {
      receivedAt: new Date(),
      method: request.method ?? '',
      host,
      path: request.url ?? '',
      headers: flat(request),
      body,
      answer: describe(behaviour),
    };
    mailbox.add(webhook);
    if (behaviour.hang) return;
    if (behaviour.delay_ms) await delay(behaviour.delay_ms);
    if (behaviour.forward_to !== undefined) {
      const forwarded = await forward(behaviour.forward_to, webhook);
      webhook.answer = 'problem' in forwarded ? `reset: ${forwarded.problem}` : String(forwarded.status);
      if ('problem' in forwarded) resets(request);
      else response.writeHead(forwarded.status, forwarded.headers).end();
    } else if (behaviour.reset) resets(request);
    else response.writeHead(behaviour.status ?? 200, behaviour.headers).end();
  };
  server.on('request', (request, response) => {
    // If the sender disconnects in the middle, nothing was received.
    handle(request, response).catch(() => request.destroy());
  });
  return server;
}

/**
 * A TLS socket can only be closed in order; a reset needs the TCP connection below it. @returns a function that resets a request's
 * connection.
 */
function trackConnections(server: Server): (request: IncomingMessage) => void {
  const connections = new Map<number, Socket>();
  server.on('connection', (socket: Socket) => {
    const port = socket.remotePort ?? 0;
    connections.set(port, socket);
    socket.once('close', () => connections.delete(port));
  });
  return (request) => connections.get(request.socket.remotePort ?? 0)?.resetAndDestroy();
}

function describe({ status = 200, hang, reset, forward_to: to }: Behaviour): string | null {
  if (to !== undefined) return null;
  if (hang) return 'hang';
  return reset ? 'reset' : String(status);
}

async function receive(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function flat(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}
