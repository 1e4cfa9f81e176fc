import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Lifecycle } from '@quittance/runtime/lifecycle.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { nodeReceiver, WebhookVerificationError, type SigningKeys, type WebhookEvent } from '@quittance/sdk';

const LIMITS = { headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 60_000 };
const MAX_CONNECTIONS = 256;

type Parts = {
  keysOf: (merchantId: string, used: string) => Promise<SigningKeys | null>;
  /** Resolves once the event is stored. */
  accept: (merchantId: string, event: WebhookEvent) => Promise<void>;
  logger: Logger;
};

const path = /^\/hooks\/(mer_[0-9a-f]{32})$/;

/** Receives webhooks as any shop does, with the SDK, under one path for each merchant. Verified events are answered when they are stored. */
export function createHooks({ keysOf, accept, logger }: Parts) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const merchantId = path.exec(request.url ?? '')?.[1];
    const keys =
      merchantId === undefined ? null : await keysOf(merchantId, String(request.headers['x-service-key-id']));
    if (merchantId === undefined || keys === null) {
      // A body that is not read would delay the next request.
      response.writeHead(404, { connection: 'close' }).end();
      return;
    }
    await nodeReceiver({
      keys,
      onEvent: (event) => accept(merchantId, event),
      onError: (error) => {
        const isForged = error instanceof WebhookVerificationError;
        const fields = { merchant_id: merchantId, ...(isForged ? { problem: error.problem } : { error }) };
        if (isForged) logger.info(fields, 'a webhook was refused');
        else logger.error(fields, 'a webhook could not be stored');
      },
    })(request, response);
  };
}

/** @returns the port, which the system chooses for port 0. */
export async function listenForHooks(
  handle: ReturnType<typeof createHooks>,
  options: { host: string; port: number; cert: string; key: string; lifecycle: Lifecycle; logger: Logger },
): Promise<{ port: number }> {
  const { host, port, cert, key, lifecycle, logger } = options;
  const server: Server = createServer({ ...LIMITS, cert, key, minVersion: 'TLSv1.2' }, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      logger.error({ error }, 'a webhook could not be received');
      if (!response.headersSent) response.writeHead(500, { connection: 'close' });
      response.end();
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('tlsClientError', (error) => logger.debug({ error }, 'a TLS handshake failed'));
  server.listen({ host, port });
  await once(server, 'listening');
  lifecycle.onStop('hooks', async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeIdleConnections();
    await closed;
  });
  const address = server.address() as AddressInfo;
  logger.info({ host, port: address.port }, 'listening for webhooks');
  return { port: address.port };
}
