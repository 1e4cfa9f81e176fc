import { createServer } from 'node:http';
import { parseBehaviour, record } from './behaviour.ts';
import { refusalOf } from './web-pages.ts';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Behaviours } from './behaviour.ts';
import type { Mailbox } from './mailbox.ts';

const maxBodyBytes = 64 * 1024;

type Reply = { status: number; body?: unknown };
type Action = (body: () => Promise<unknown>, query: URLSearchParams) => Promise<Reply> | Reply;

type Parts = {
  mailbox: Mailbox;
  behaviours: Behaviours;
  /** Host names that requests may use. */
  hostNames: readonly string[];
};

/**
 * For people and tests on the loopback interface, not for web pages:
 * GET /events?host= · DELETE /events · POST /behaviour · DELETE /behaviour?host= · POST /keys {key_id, signing_key} · GET /livez
 */
export function createControlServer({ mailbox, behaviours, hostNames }: Parts): Server {
  const done: Reply = { status: 204 };
  const actions: Record<string, Action> = {
    'GET /livez': () => ({ status: 200, body: { status: 'ok' } }),
    'GET /events': (_, query) => ({ status: 200, body: { events: mailbox.list(query.get('host')) } }),
    'DELETE /events': () => {
      mailbox.clear();
      return done;
    },
    'POST /behaviour': async (body) => {
      behaviours.set(parseBehaviour(await body()));
      return done;
    },
    'DELETE /behaviour': (_, query) => {
      behaviours.clear(query.get('host') ?? undefined);
      return done;
    },
    'POST /keys': async (body) => {
      const { key_id: keyId, signing_key: signingKey } = record(await body());
      if (typeof keyId !== 'string' || typeof signingKey !== 'string')
        throw new Error('key_id and signing_key are strings');
      mailbox.trust(keyId, signingKey);
      return done;
    },
  };

  return createServer((request, response) => {
    const refusal = refusalOf(request, hostNames);
    void Promise.resolve(refusal ?? respond(actions, request)).then(({ status, body }) => send(response, status, body));
  });
}

async function respond(actions: Record<string, Action>, request: IncomingMessage): Promise<Reply> {
  const url = URL.parse(request.url ?? '/', 'http://localhost');
  const action = actions[`${request.method} ${url?.pathname}`];
  if (url === null || action === undefined)
    return { status: 404, body: { detail: `Known are ${Object.keys(actions).join(', ')}` } };
  try {
    return await action(() => readJson(request), url.searchParams);
  } catch (error) {
    return { status: 422, body: { detail: (error as Error).message } };
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (body === undefined) return void response.writeHead(status).end();
  const headers = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
