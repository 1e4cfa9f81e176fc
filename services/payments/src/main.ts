import { createApp } from '@quittance/http/app.ts';
import { createServiceClient } from '@quittance/http/client.ts';
import { unavailable } from '@quittance/http/errors.ts';
import { listen } from '@quittance/http/listen.ts';
import { connectBroker } from '@quittance/messaging/broker.ts';
import { startConsumers } from '@quittance/messaging/consumer.ts';
import { createOutbox } from '@quittance/messaging/outbox.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import { createPool, ping } from '@quittance/postgres/pool.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { startService } from '@quittance/runtime/service.ts';
import { createAnnouncer } from './announcer.ts';
import { createAskOwner } from './ask-owner.ts';
import { createChain, createOwners } from './clients.ts';
import { readConfig } from './config.ts';
import { createPayment } from './creation.ts';
import { accessChanged } from './handlers/access-changed.ts';
import { transferObserved } from './handlers/transfer-observed.ts';
import { webhookConfigured } from './handlers/webhook-configured.ts';
import { startExpireLoop } from './loops/expire.ts';
import { startKeepRepliesLoop } from './loops/keep-replies.ts';
import { schema } from './migrations.ts';
import { createQueries } from './queries.ts';
import { cancelPaymentRoute } from './routes/cancel-payment.ts';
import { createPaymentRoute } from './routes/create-payment.ts';
import { limitsRoutes } from './routes/limits.ts';
import { operatorRoutes } from './routes/operator.ts';
import { readPaymentsRoutes } from './routes/read-payments.ts';

const name = 'payments';

await startService({
  name,
  readConfig,
  start: async ({ config, logger, metrics, lifecycle }) => {
    const { databaseUrl: url, databasePoolSize: max, internalToken, networks, publicBaseUrl } = config;
    const pool = createPool({ url, schema, max, logger, applicationName: name, metrics });
    lifecycle.onStop('database', () => pool.end());
    const broker = connectBroker({ url: config.amqpUrl, name, logger, metrics });
    lifecycle.onStop('broker', () => broker.close());
    const outbox = createOutbox({ pool, broker, logger, metrics });
    lifecycle.onStop('outbox', () => outbox.close());

    const client = (service: string, baseUrl: string) => {
      const created = createServiceClient({ name: service, baseUrl, internalToken, logger, metrics });
      lifecycle.onStop(`client ${service}`, () => created.close());
      return created;
    };
    const owners = createOwners({
      quota: client('quota', config.quotaUrl),
      webhooks: client('webhook-dispatcher', config.webhookDispatcherUrl),
    });
    const chain = createChain({ watcher: client('chain-watcher', config.chainWatcherUrl) });

    const transact = <T>(run: (tx: Transaction) => Promise<T>): Promise<T> => transaction(pool, run);
    const announcer = createAnnouncer({ outbox, metrics });
    const askOwner = createAskOwner({ owners, db: pool });

    const handlers = [transferObserved(announcer), accessChanged(), webhookConfigured()];
    const consumers = startConsumers({ broker, pool, service: name, handlers, logger, metrics });
    lifecycle.onStop('consumers', () => consumers.close());
    const expiry = startExpireLoop({ db: pool, transact, chain, announcer, networks, logger, metrics });
    lifecycle.onStop('expire', () => expiry.close());
    const replies = startKeepRepliesLoop({ db: pool, logger, metrics });
    lifecycle.onStop('keep-replies', () => replies.close());

    const { paymentTtlSeconds: ttlSeconds, walletBinding } = config;
    const creation = { transact, announcer, askOwner, ttlSeconds, walletBinding, publicBaseUrl };
    const queries = createQueries({ pool, schema, publicBaseUrl });
    const routes = [
      createPaymentRoute({ create: (request) => createPayment(creation, request), networks, metrics }),
      cancelPaymentRoute({ transact, announcer, publicBaseUrl }),
      ...readPaymentsRoutes(queries),
      ...limitsRoutes({ db: pool, askOwner }),
      ...operatorRoutes({ db: pool, queries }),
    ];
    // The broker is no part of readiness: without it payments are still created and read, and the outbox keeps the messages.
    const app = createApp({
      name,
      logger,
      metrics,
      routes,
      internalToken,
      ready: () => ping(pool),
      mapError: (error) => (isUnavailable(error) ? unavailable(error) : null),
    });
    await listen(app, { host: config.host, port: config.port, lifecycle, logger });
  },
});
