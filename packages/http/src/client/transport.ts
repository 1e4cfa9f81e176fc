import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

import { startTimeout } from '@quittance/runtime/concurrency/deadline.ts';

import { http } from '../node-http.ts';
import type { ServiceRequest } from './request.ts';

const MAX_CONNECTIONS = 128;
/**
 * Idle connections are closed before a stopping server would close them, so that no request is sent on a closing
 * connection.
 */
const IDLE_TIMEOUT_MS = 5_000;

/** Kept and shared connections to one server. */
export type Transport = {
  /**
   * Sends a request and returns its answer, unread, whatever its status.
   * @param how.signal ends the request, even while its answer is read.
   * @throws the system's error, with its code.
   */
  open(
    request: ServiceRequest,
    url: URL,
    how: { headers: Record<string, string>; signal: AbortSignal },
  ): Promise<IncomingMessage>;
  close(): void;
};

/**
 * @param options.timeoutMs the deadline of a call. Half of it is for connecting, which leaves time for a second try
 *   when a server doesn't respond at all.
 */
export function createTransport(baseUrl: string, { timeoutMs }: { timeoutMs: number }): Transport {
  const { Agent, request } = baseUrl.startsWith('https:') ? process.getBuiltinModule('node:https') : http;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: MAX_CONNECTIONS,
    maxFreeSockets: 32,
    timeout: IDLE_TIMEOUT_MS,
  });
  return {
    open({ method, json }, url, { headers, signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
      const ofBody = body && { 'content-type': 'application/json', 'content-length': body.length };
      const sent = request(url, { agent, method, signal, headers: { ...headers, ...ofBody } });
      sent.once('response', resolve);
      // Not `once`: a connection that fails while the answer is read is reported here too.
      sent.on('error', reject);
      limitConnecting(sent, Math.ceil(timeoutMs / 2));
      sent.end(body);
      return promise;
    },
    close: () => agent.destroy(),
  };
}

function limitConnecting(sent: ClientRequest, timeoutMs: number): void {
  sent.once('socket', (socket) => {
    if (!socket.connecting) return;
    const cancel = startTimeout(timeoutMs, () => {
      const error = new Error(`no connection within ${timeoutMs} ms`);
      socket.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
    });
    socket.once('connect', cancel).once('close', cancel);
  });
}

/** @throws Error for an answer that is longer or breaks off. The connection is then closed. */
export function readAll(answer: Readable, maxBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else answer.destroy(new Error(`its answer exceeds ${maxBytes} bytes`));
  });
  answer.once('end', () => resolve(Buffer.concat(chunks)));
  answer.on('error', reject);
  return promise;
}
