import { createServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { CertificateAuthority } from '../backends/certificates.ts';
import type { Behaviour, Behaviours } from './behaviour.ts';
import type { Mailbox } from './mailbox.ts';

const maxBodyBytes = 256 * 1024;

/** The TLS side: whatever host a sender asks for, it gets that host's certificate, and its webhook goes into the mailbox. */
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
    // For senders that name no host.
    ...(await authority.issue('localhost')),
    minVersion: 'TLSv1.2',
    SNICallback: (name, done) => {
      secureContextOf(name).then(
        (context) => done(null, context),
        (error: unknown) => done(error as Error),
      );
    },
  });
  server.on('request', (request, response) => {
    receive(request).then(
      (body) => {
        if (body === null) return void response.writeHead(413, { connection: 'close' }).end();
        const host = (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
        const behaviour = behaviours.next(host);
        mailbox.add({
          ...{ receivedAt: new Date(), host, path: request.url ?? '', headers: flat(request), body },
          answer: describe(behaviour),
        });
        answer(behaviour, request, response);
      },
      // The sender went away in the middle: nothing was received.
      () => request.destroy(),
    );
  });
  return server;
}

function answer(
  { status = 200, headers = {}, delay_ms: delayMs = 0, hang, reset }: Behaviour,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (hang) return;
  const act = () => (reset ? void request.socket.resetAndDestroy() : void response.writeHead(status, headers).end());
  if (delayMs > 0) setTimeout(act, delayMs).unref();
  else act();
}

function describe({ status = 200, hang, reset }: Behaviour): string {
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
