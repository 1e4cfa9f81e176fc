import { listen } from '@quittance/http/server/listen.ts';
import { serviceClients } from '@quittance/http/client/service-clients.ts';
import { connectBackends } from '@quittance/messaging/backends.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { startService } from '@quittance/runtime/service.ts';
import { createGatewayApp } from './app.ts';
import { readConfig } from './config.ts';
import { startShowReportsLoop } from './operators/http.ts';
import { startSweepWindowsLoop } from './limits/admission.ts';
import { schema } from './migrations.ts';
import { TEST_CALL_TIMEOUT_MS } from './webhooks/http.ts';

const name = 'api-gateway';

/** How long to wait for one lock. Leaves time for the rest of the request. */
const LOCK_TIMEOUT_MS = 1_000;

/** Longer than payments waits for chain-watcher's answer about a transfer, and shorter than the public request may take. */
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
      // Slow nodes must not open the circuit of other calls to payments.
      acceptance: client('payments accept', config.paymentsUrl, ACCEPTANCE_TIMEOUT_MS),
      reports: client('payments reports', config.paymentsUrl, REPORT_TIMEOUT_MS),
      webhooks: client('webhook-dispatcher', config.webhookDispatcherUrl),
      webhookTests: client('webhook-dispatcher tests', config.webhookDispatcherUrl, TEST_CALL_TIMEOUT_MS),
    };

    for (const start of [startSweepWindowsLoop, startShowReportsLoop]) {
      lifecycle.closing(start.name, start({ db: pool, logger, metrics }));
    }

    const app = createGatewayApp({
      db: pool,
      transact: (run) => transaction(pool, run, { lockTimeoutMs: LOCK_TIMEOUT_MS }),
      ready,
      outbox,
      upstreams,
      networks: config.networks,
      optionRules: config.optionRules,
      passkeysFor: config.passkeysFor,
      trust,
      legacy,
      logger,
      metrics,
    });
    await listen(app, { host: config.host, port: config.port, lifecycle, logger });
  },
});
