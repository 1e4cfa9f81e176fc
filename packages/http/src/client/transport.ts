import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

import { startTimeout } from '@quittance/runtime/concurrency/deadline.ts';

import { http } from '../node-http.ts';
import type { ServiceRequest } from './request.ts';

const MAX_CONNECTIONS = 128;
/** An idle connection is given up before a server that stops would close it, so that no request meets a closing end. */
const IDLE_TIMEOUT_MS = 5_000;

/** Connections to one server, which are kept and shared. */
export type Transport = {
  /**
   * Sends a request. Its answer comes as it is, whatever its status, and has not been read.
   * @param how.signal ends the request, also while its answer is read.
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
 * @param options.timeoutMs of a call. A server that does not even refuse a connection has half of it, which leaves time for a second.
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
      // Not once: a connection that fails while the answer is read is reported here too.
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

/** @throws Error for an answer that is longer, or that breaks off; then its connection is closed. */
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
