import { randomInt } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { createSemaphore } from '@quittance/runtime/concurrency/semaphore.ts';

export type HttpCall = {
  /** A list sends the header once for each value. */
  headers?: Record<string, string | string[]>;
  /** An object is sent as JSON; text and bytes are sent as they are. */
  body?: string | Buffer | object | undefined;
  /** The loopback address that the request comes from. Default: a different one each time. */
  from?: string | undefined;
};

export type HttpAnswer = {
  status: number;
  headers: IncomingHttpHeaders;
  /** Name, value, name, value, … as received. */
  rawHeaders: string[];
  text: string;
  /** The body as JSON. @throws SyntaxError when it is not JSON. */
  json: <T>() => T;
};

const TIMEOUT_MS = 30_000;

/** Sends one plain HTTP request. Unlike fetch it can send a header twice, follows no redirect and adds nothing. */
export function send(method: string, url: string, { headers = {}, body, from }: HttpCall = {}): Promise<HttpAnswer> {
  const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = isRaw ? body : JSON.stringify(body);
  const isChunked = Object.keys(headers).some((name) => name.toLowerCase() === 'transfer-encoding');
  const own: Record<string, string> = {};
  if (!isRaw) own['Content-Type'] = 'application/json';
  if (bytes !== undefined && !isChunked) own['Content-Length'] = String(Buffer.byteLength(bytes));
  const localAddress = from ?? (isLoopback(url) ? sourceAddress() : undefined);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      url,
      {
        method,
        headers: { ...own, ...headers },
        agent: false,
        timeout: TIMEOUT_MS,
        ...(localAddress !== undefined && { localAddress }),
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const { statusCode: status = 0, headers, rawHeaders } = incoming;
          resolve({ status, headers, rawHeaders, text, json: <T>() => JSON.parse(text) as T });
        });
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${url}: no answer within ${TIMEOUT_MS} ms`)));
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

/** Everything in an answer except what differs each time. */
export function bytesOf({ status, text, headers }: HttpAnswer) {
  const own = ['date', 'x-request-id'];
  return { status, text, headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name))) };
}

/** Runs all of these in order, a few at a time, because a busy machine answers the last of many too late. */
export function fewAtATime<T>(asks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const turns = createSemaphore(5);
  return Promise.all(asks.map((ask) => turns(ask)));
}

/**
 * A random address of 127.0.0.0/8, so that the edge does not count the whole test run as one client. All of these addresses belong to a
 * Linux machine. Undefined if a machine has only 127.0.0.1.
 */
export function sourceAddress(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
}

/** Only requests to loopback can come from such an address. */
function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname.startsWith('127.');
}
