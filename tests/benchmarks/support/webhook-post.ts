import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, buildConnector } from 'undici';
import type { WebhookMerchant } from './webhook-merchants.ts';

/** Connections to one host: the dispatcher's limit. */
const CONNECTIONS_PER_HOST = 64;

/** One plain POST with the same headers as the dispatcher's: signed twice, sent, the answer read. @throws Error for anything but a 2xx. */
export type Post = (merchant: WebhookMerchant, eventId: string, body: string) => Promise<void>;

/**
 * undici with the dispatcher's limits for connections, and without its checks of addresses: every host is the receiver. It does not use the
 * dispatcher's code, so that the dispatcher is compared with the least that does the job.
 */
export function createPost({ port, authorityFile }: { port: number; authorityFile: string }): Post {
  const connect = buildConnector({ ca: readFileSync(authorityFile), allowH2: false });
  const agent = new Agent({
    connect: (options, callback) => {
      connect({ ...options, servername: options.hostname, hostname: '127.0.0.1', port: String(port) }, callback);
    },
    ...{ connections: CONNECTIONS_PER_HOST, pipelining: 1, allowH2: false },
    ...{ keepAliveMaxTimeout: 60_000, clientTtl: 300_000, headersTimeout: 0, bodyTimeout: 0 },
  });
  return async ({ host, url, keyId, secret }, eventId, body) => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const standardKey = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const response = await agent.request({
      origin: `https://${host}`,
      path: new URL(url).pathname,
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Benchmark',
        'X-Service-Timestamp': timestamp,
        'X-Service-Signature': `v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`,
        'X-Service-Event-ID': eventId,
        'X-Service-Key-ID': keyId,
        'webhook-id': eventId,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${createHmac('sha256', standardKey).update(`${eventId}.${timestamp}.`).update(body).digest('base64')}`,
      },
      body,
    });
    await response.body.dump();
    if (response.statusCode < 200 || response.statusCode > 299) throw new Error(`${host}: ${response.statusCode}`);
  };
}
