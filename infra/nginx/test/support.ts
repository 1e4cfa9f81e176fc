import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nginxUser, startNginx } from '@quittance/local-backends/nginx.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { stackDirectory } from '../../local/stack/directory.ts';
import { renderNginx } from '../render.ts';

/** A request as the gateway received it. */
export type Seen = { method: string; url: string; headers: IncomingHttpHeaders; bytes: number };

export type Edge = {
  port: number;
  /** The requests that reached the gateway, oldest first. */
  seen: Seen[];
  /** The log that nginx has written so far. */
  log(): Promise<string>;
  /** Stops only the gateway, so that nginx cannot reach one. */
  closeGateway(): void;
  close(): Promise<void>;
};

/** How the gateway answers. Default: 200 with the request it got. */
type AnswerOf = (seen: Seen, response: ServerResponse) => void;

const echo: AnswerOf = (seen, response) => void response.end(JSON.stringify(seen));

/** A real nginx with the edge's configuration, in front of a gateway that records its requests. */
export async function startEdge(options: { trustedProxies?: string[]; answer?: AnswerOf } = {}): Promise<Edge> {
  const { trustedProxies = [], answer = echo } = options;
  const directory = await mkdtemp(join(tmpdir(), 'quittance-edge-'));
  const seen: Seen[] = [];
  const gateway = await listening(notingServer(seen, answer));
  const port = await freePort();
  const user = nginxUser();
  const logFile = join(directory, 'nginx.log');
  const nginx = await startNginx({
    directory,
    toolsDirectory: stackDirectory().tools,
    logFile,
    configuration: renderNginx({
      directory,
      ...(user !== undefined && { user }),
      edge: { listen: `127.0.0.1:${port}`, gateway: [`127.0.0.1:${portOf(gateway)}`], trustedProxies },
    }),
    ports: [port],
  });
  const closeGateway = (): void => {
    gateway.close();
    gateway.closeAllConnections();
  };
  const close = async (): Promise<void> => {
    await nginx.stop();
    closeGateway();
    await rm(directory, { recursive: true, force: true });
  };
  return { port, seen, log: () => readFile(logFile, 'utf8'), closeGateway, close };
}

/**
 * An address that no other test uses. Only on Linux does the machine have all of 127.0.0.0/8; elsewhere all tests share its one address.
 */
export function newClient(): string {
  if (process.platform !== 'linux') return '127.0.0.1';
  return `127.${randomInt(100, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
}

export type Call = { method?: string; headers?: Record<string, string | string[]>; body?: string; from?: string };

export type Answer = { status: number; headers: IncomingHttpHeaders; rawHeaders: string[]; text: string };

/** Sends one request on its own connection, from a new address unless `from` is given. */
export function ask(edge: Edge, path: string, call: Call = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, from = newClient() } = call;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  // For some methods Node would send a body without its length.
  const length = body === undefined || 'Transfer-Encoding' in headers ? {} : { 'Content-Length': body.length };
  const options = { host: '127.0.0.1', port: edge.port, path, method, localAddress: from, agent: false };
  const outgoing = request({ ...options, headers: { ...length, ...headers } }, (incoming) => {
    let text = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    incoming.once('error', reject).once('end', () => {
      const { statusCode: status = 0, headers: received, rawHeaders } = incoming;
      resolve({ status, headers: received, rawHeaders, text });
    });
  });
  outgoing.once('error', reject).end(body);
  return promise;
}

export type Flood = { answers: Answer[]; admitted: number; seconds: number };

/** Sends the calls as fast as possible, a few at a time, so that only their rate can exceed a limit. */
export async function flood(edge: Edge, calls: readonly ({ path: string } & Call)[]): Promise<Flood> {
  const atATime = 8;
  const startedAt = performance.now();
  const rest = calls.entries();
  const answers: Answer[] = [];
  const worker = async (): Promise<void> => {
    for (const [position, { path, ...call }] of rest) answers[position] = await ask(edge, path, call);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  const admitted = answers.filter(({ status }) => status === 200).length;
  return { answers, admitted, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Opens a connection and sends exactly these bytes. */
export function open(edge: Edge, bytes: string, from: string = newClient()): Socket {
  const socket = connect({ port: edge.port, host: '127.0.0.1', localAddress: from });
  socket.write(bytes, 'latin1');
  return socket;
}

/** Sends exactly these bytes. @returns everything received until the connection ended. */
export function exchange(edge: Edge, bytes: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const socket = open(edge, bytes);
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.once('error', reject).once('close', () => resolve(text));
  return promise;
}

function notingServer(seen: Seen[], answer: AnswerOf): Server {
  return createServer((incoming, response) => {
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => (bytes += chunk.length));
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      const noted = { method, url, headers, bytes };
      seen.push(noted);
      response.setHeader('X-Request-ID', headers['x-request-id'] ?? 'none');
      answer(noted, response);
    });
  });
}

async function listening(server: Server): Promise<Server> {
  const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
