import { serve } from '@quittance/http/server/listen.ts';
import { connectBackends } from '@quittance/messaging/backends.ts';
import { startConsumers } from '@quittance/messaging/consumer/consumer.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { startService } from '@quittance/runtime/service.ts';
import { changePolicy } from './changes.ts';
import { readConfig } from './config.ts';
import { merchantRegistered } from './handlers/merchant-registered.ts';
import { merchantStatusChanged } from './handlers/merchant-status-changed.ts';
import { paymentCreated } from './handlers/payment-created.ts';
import { schema } from './migrations.ts';
import { createQueries } from './queries.ts';
import { checkRoute } from './routes/check.ts';
import { operatorRoutes } from './routes/operator.ts';
import { policyRoutes } from './routes/policy.ts';

const name = 'quota';

await startService({
  name,
  readConfig,
  start: async ({ config, logger, metrics, lifecycle }) => {
    const backends = connectBackends({ name, schema, config, logger, metrics, lifecycle });
    const { pool, operators, broker, outbox, legacy, reachable, ready } = backends;
    await reachable();
    const handlers = [merchantRegistered(outbox), merchantStatusChanged(outbox), paymentCreated()];
    const { trust } = config;
    const consumers = startConsumers({ broker, pool, service: name, handlers, trust, legacy, logger, metrics });
    lifecycle.onStop('consumers', () => consumers.close());

    const queries = createQueries(pool, schema);
    const routes = [
      ...policyRoutes(queries),
      checkRoute(queries),
      ...operatorRoutes((change) => transaction(operators, (tx) => changePolicy(tx, outbox, change))),
    ];
    // The broker is not part of readiness: without it policies are still read and changed, and the outbox keeps the messages.
    await serve({ name, config, legacy, logger, metrics, lifecycle, routes, ready, isUnavailable });
  },
});
