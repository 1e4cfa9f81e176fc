import type { Network } from '@quittance/contracts/networks.ts';
import { serve } from '@quittance/http/server/serve.ts';
import { serviceClients } from '@quittance/http/client/service-clients.ts';
import { connectBackends } from '@quittance/messaging/backends.ts';
import { startConsumers } from '@quittance/messaging/consumer/consumer.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction, type Transact } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startService } from '@quittance/runtime/service.ts';
import { warmUp } from '@quittance/runtime/warm-up.ts';
import { createAdmission } from './admission.ts';
import { createOwners, createWatcherClients } from './clients.ts';
import { readConfig } from './config.ts';
import { accessChanged } from './handlers/access-changed.ts';
import { transferObserved } from './handlers/transfer-observed.ts';
import { webhookConfigured } from './handlers/webhook-configured.ts';
import { createAccessRefresh } from './limits/refresh-access.ts';
import { startCountIncidentsLoop } from './loops/count-incidents.ts';
import { startCompareClocksLoop } from './loops/compare-clocks.ts';
import { startExpireUnreadLoop } from './loops/expire-unread.ts';
import { startExpireLoop } from './loops/expire.ts';
import { startKeepRepliesLoop } from './loops/keep-replies.ts';
import { schema } from './migrations.ts';
import { createPaymentMessages } from './payment-messages.ts';
import { anyPayment, listPayments } from './queries/payment-lists.ts';
import { createQueries } from './queries/payments.ts';
import { acceptTransferRoute } from './routes/accept-transfer.ts';
import { archiveRoutes } from './routes/archive.ts';
import { auditRoute } from './routes/audit.ts';
import { cancelPaymentRoute } from './routes/cancel-payment.ts';
import { checkRoutes } from './routes/check.ts';
import { createBatches } from './payment/create-batch.ts';
import { createPayment } from './payment/create.ts';
import { createPaymentRoute } from './routes/create-payment.ts';
import { paymentIncidentRoutes } from './routes/incidents.ts';
import { findingRoutes } from './routes/finding.ts';
import { limitsRoutes } from './routes/limits.ts';
import { lookUpRoutes } from './routes/look-ups.ts';
import { operatorRoutes } from './routes/operator.ts';
import { webhookChoiceRoute } from './routes/webhook-choice.ts';
import { paymentViewsRoutes } from './routes/view-payments.ts';
import { walletRoutes } from './routes/wallets.ts';
import { keepReplyPartitions } from './store/reply.ts';
import { createChainTips } from './views/chain-tips.ts';
import { createConfirmationPolicy } from './views/confirmation-policy.ts';
import { createWalletStates } from './views/wallet-states.ts';
import { createWarnings } from './views/warnings.ts';

const name = 'payments';

const loops = [
  startExpireLoop,
  startExpireUnreadLoop,
  startCompareClocksLoop,
  startCountIncidentsLoop,
  startKeepRepliesLoop,
];

/** What is shown of payments beside their rows. */
function createViewSources({ tipReader, networks, logger }: ViewDependencies) {
  const readTips = createChainTips({ reader: tipReader, logger });
  const isBlacklisted = createWalletStates({ ask: tipReader.blacklisted, logger });
  return {
    progress: { readTips, policy: createConfirmationPolicy(networks) },
    readWarnings: createWarnings({ readTips, isBlacklisted }),
  };
}

type ViewDependencies = Pick<ReturnType<typeof createWatcherClients>, 'tipReader'> & {
  networks: readonly Network[];
  logger: Logger;
};

const transactOn =
  (db: Pool): Transact =>
  (run) =>
    transaction(db, run);

await startService({
  name,
  readConfig,
  start: async ({ config, logger, metrics, lifecycle }) => {
    const { trust, networks, publicBaseUrl, paymentTtlSeconds: ttlSeconds, walletBinding } = config;
    const backends = connectBackends({ name, schema, config, logger, metrics, lifecycle });
    const { pool, operators, broker, outbox, legacy, reachable, ready } = backends;
    await reachable();

    const client = serviceClients({ caller: name, trust, logger, metrics, lifecycle });
    const owners = createOwners(client, config);
    const clocks = { ms: 0 };
    const { chain, tipReader, verifiers, finders } = createWatcherClients(client, config.chainWatcherUrl, clocks);

    const transact = transactOn(pool);
    const messages = createPaymentMessages({ outbox, metrics });
    const transactAdmitted = createAdmission(pool);
    const refresh = createAccessRefresh({ owners, transact: transactAdmitted });

    const handlers = [transferObserved(messages, clocks), accessChanged(), webhookConfigured()];
    lifecycle.closing(
      'consumers',
      startConsumers({ broker, pool, service: name, handlers, trust, legacy, logger, metrics }),
    );
    const reading = { chain, clocks, readClock: tipReader.clock };
    const looping = { db: pool, transact, messages, networks, ...reading, logger, metrics };
    for (const start of loops) lifecycle.closing(start.name, start(looping));

    const rules = { ttlSeconds, walletBinding, publicBaseUrl };
    const { progress, readWarnings } = createViewSources({ tipReader, networks, logger });
    const ids = networks.map(({ id }) => id);
    const shown = { publicBaseUrl, progress, readWarnings };
    const telling = { messages, logger };
    const decideTogether = createBatches({ pool, rules, ...telling });
    const creating = { decideTogether, transact: transactAdmitted, rules, messages, refresh };
    const operating = { db: operators, transact: transactOn(operators) };
    // The first creation needs a partition for its reply, and a service that was off for months has none.
    await warmUp(logger, [() => listPayments(pool, 'none', anyPayment), () => keepReplyPartitions(pool)]);
    const routes = [
      createPaymentRoute({ create: (creation) => createPayment(creating, creation), networks, metrics }),
      cancelPaymentRoute({ transact: transactAdmitted, ...telling, publicBaseUrl }),
      acceptTransferRoute({
        acceptance: { db: pool, verifier: verifiers.merchants, ...telling },
        transact: transactAdmitted,
        leastPercent: config.merchantAcceptMinPercent,
        ...shown,
      }),
      webhookChoiceRoute({ transact: transactAdmitted }),
      ...findingRoutes({ db: pool, operators, networks, publicBaseUrl, progress, logger }),
      ...paymentViewsRoutes({ db: pool, ...shown }),
      ...limitsRoutes({ db: pool, refresh }),
      ...operatorRoutes({
        acceptance: { ...operating, verifier: verifiers.operators, ...telling },
        queries: createQueries({ pool, schema }),
        ...shown,
      }),
      ...lookUpRoutes({
        finding: { db: pool, finder: finders.merchants, networks: ids, readWarnings, ...progress },
        operators: { db: operators, finder: finders.operators },
      }),
      ...paymentIncidentRoutes(operators),
      ...walletRoutes({ ...operating, ...telling, publicBaseUrl, networks: ids }),
      auditRoute(operators),
      ...archiveRoutes(operating),
      ...checkRoutes(operators),
    ];
    // The broker is not part of readiness: without it payments are still created and read, and the outbox keeps the messages.
    await serve({ name, config, legacy, logger, metrics, lifecycle, routes, ready, isUnavailable });
  },
});
