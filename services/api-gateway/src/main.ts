import { listen } from '@quittance/http/server/listen.ts';
import { serviceClients } from '@quittance/http/client/service-clients.ts';
import { connectBackends } from '@quittance/messaging/backends.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { startService } from '@quittance/runtime/service.ts';
import { createGatewayApp } from './routes/app.ts';
import { readConfig } from './config.ts';
import { startShowCheckLoop } from './loops/show-check.ts';
import { sweepWindowsLoop } from './loops/sweep-windows.ts';
import { schema } from './migrations.ts';
import { TEST_CALL_TIMEOUT_MS } from './routes/webhook.ts';

const name = 'api-gateway';

/** How long to wait for one lock; leaves time for the rest. */
const LOCK_TIMEOUT_MS = 1_000;

/** Longer than payments waits for chain-watcher's answer about a transfer, and within the time of the public request. */
const ACCEPTANCE_TIMEOUT_MS = 7_500;
/** Longer than a statement of payments may take. */
const REPORT_TIMEOUT_MS = 8_000;

await startService({
  name,
  readConfig,
  start: async ({ config, logger, metrics, lifecycle }) => {
    const backends = connectBackends({ name, schema, config, logger, metrics, lifecycle });
    const { pool, outbox, legacy, reachable, ready } = backends;
    await reachable();
    const { trust } = config;

    const client = serviceClients({ caller: name, trust, logger, metrics, lifecycle });
    const upstreams = {
      payments: client('payments', config.paymentsUrl),
      // Its own circuit: nodes that are slow must not block what else is asked of payments.
      acceptance: client('payments accept', config.paymentsUrl, ACCEPTANCE_TIMEOUT_MS),
      reports: client('payments reports', config.paymentsUrl, REPORT_TIMEOUT_MS),
      webhooks: client('webhook-dispatcher', config.webhookDispatcherUrl),
      webhookTests: client('webhook-dispatcher tests', config.webhookDispatcherUrl, TEST_CALL_TIMEOUT_MS),
    };

    const sweep = sweepWindowsLoop({ db: pool, logger, metrics });
    lifecycle.onStop('sweep-windows', () => sweep.close());
    const showCheck = startShowCheckLoop({ db: pool, logger, metrics });
    lifecycle.onStop('show-check', () => showCheck.close());

    const app = createGatewayApp({
      db: pool,
      inTransaction: (run) => transaction(pool, run, { lockTimeoutMs: LOCK_TIMEOUT_MS }),
      ready,
      outbox,
      upstreams,
      networks: config.networks,
      optionRules: config.optionRules,
      trust,
      legacy,
      logger,
      metrics,
    });
    await listen(app, { host: config.host, port: config.port, lifecycle, logger });
  },
});
