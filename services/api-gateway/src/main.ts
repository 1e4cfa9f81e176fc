import { createServiceClient } from '@quittance/http/client.ts';
import { listen } from '@quittance/http/listen.ts';
import { connectBackends } from '@quittance/messaging/backends.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import { ping } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { startService } from '@quittance/runtime/service.ts';
import { createGatewayApp } from './app.ts';
import { ENDPOINT_CHECK_TIMEOUT_MS } from './clients.ts';
import { readConfig } from './config.ts';
import { sweepWindowsLoop } from './loops/sweep-windows.ts';
import { schema } from './migrations.ts';

const name = 'api-gateway';

await startService({
  name,
  readConfig,
  start: async ({ config, logger, metrics, lifecycle }) => {
    const { pool, outbox } = connectBackends({ name, schema, config, logger, metrics, lifecycle });
    const { internalToken } = config;

    const client = (service: string, baseUrl: string, timeoutMs?: number) => {
      const created = createServiceClient({
        name: service,
        baseUrl,
        internalToken,
        logger,
        metrics,
        ...(timeoutMs !== undefined && { timeoutMs }),
      });
      lifecycle.onStop(`client ${service}`, () => created.close());
      return created;
    };
    const owners = {
      payments: client('payments', config.paymentsUrl),
      webhooks: client('webhook-dispatcher', config.webhookDispatcherUrl),
      webhookEndpoints: client('webhook-dispatcher-endpoints', config.webhookDispatcherUrl, ENDPOINT_CHECK_TIMEOUT_MS),
    };

    const sweep = sweepWindowsLoop({ db: pool, logger, metrics });
    lifecycle.onStop('sweep-windows', () => sweep.close());

    const app = createGatewayApp({
      db: pool,
      inTransaction: (run) => transaction(pool, run),
      isUnavailable,
      ready: () => ping(pool),
      outbox,
      owners,
      networks: config.networks,
      internalToken,
      logger,
      metrics,
    });
    await listen(app, { host: config.host, port: config.port, lifecycle, logger });
  },
});
