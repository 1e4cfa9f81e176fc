import type { Network } from '@quittance/contracts/networks.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { serve } from '@quittance/http/server/listen.ts';
import { serviceClients } from '@quittance/http/client/service-clients.ts';
import { connectBackends } from '@quittance/messaging/backends.ts';
import { startConsumers } from '@quittance/messaging/consumer/consumer.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import { countForeignKeys, startResealLoop } from '@quittance/postgres/sealed-keys.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction, type Transact } from '@quittance/postgres/transaction.ts';
import { createFillPool, createStock } from './pools/stock.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type ServiceContext, startService } from '@quittance/runtime/service.ts';
import { warmUp } from '@quittance/runtime/warm-up.ts';
import { createAdmission } from './gate/admission.ts';
import { createOwners, createWatcherClients } from './clients.ts';
import { readConfig } from './config.ts';
import { accessChanged, webhookConfigured } from './gate/messages.ts';
import { ratesRoute, startCountRatesLoop } from './rates/http.ts';
import { ratesObserved } from './rates/messages.ts';
import { transferObserved } from './settlement/messages.ts';
import { createAccessRefresh } from './gate/refresh.ts';
import { startCountIncidentsLoop, paymentIncidentRoutes } from './settlement/http.ts';
import { startCompareClocksLoop } from './expiry/clocks.ts';
import { startExpireUnreadLoop } from './expiry/expire-unread.ts';
import { startExpireLoop } from './expiry/expire.ts';
import { startKeepRepliesLoop, keepReplyPartitions } from './payment/saved-replies.ts';
import { schema } from './migrations.ts';
import { createPaymentMessages } from './payment/outgoing-messages.ts';
import { anyPayment, listPayments } from './payment/list.sql.ts';
import { createQueries } from './operators/payments.sql.ts';
import { acceptTransferRoute } from './acceptance/http.ts';
import { archiveRoutes } from './archive/http.ts';
import { auditRoute, checkRoutes, operatorRoutes } from './operators/http.ts';
import {
  cancelPaymentRoute,
  creationRoutes,
  listRoutes,
  operatorCancelRoute,
  paymentViewsRoutes,
} from './payment/http.ts';
import { createPayment, createTogether } from './payment/create.ts';
import { findPaymentsRoute, lookUpRoutes, unmatchedRoutes } from './finding/http.ts';
import { exportPaymentsRoute, reportRoute, totalsRoutes } from './reports/http.ts';
import { limitsRoutes, webhookChoiceRoute } from './gate/http.ts';
import { poolKeys } from './pools/key.sql.ts';
import { poolRoutes, restoreRoute } from './pools/http.ts';
import { walletRoutes } from './wallets/http.ts';
import { createChainTips, createConfirmationPolicy } from './payment/progress.ts';
import { createWalletStates, createWarnings } from './payment/warnings.ts';

const name = 'payments';

const resealed = {
  table: poolKeys,
  what: 'extended keys',
  gauge: [
    'wallet_pool_keys_to_reseal',
    'Extended keys of pools that were sealed with a key other than WALLET_POOL_ENCRYPTION_KEY',
  ],
} as const;

const loops = [
  startExpireLoop,
  startExpireUnreadLoop,
  startCompareClocksLoop,
  startCountIncidentsLoop,
  startKeepRepliesLoop,
  startCountRatesLoop,
];

/** What views of payments need besides their rows. */
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

type Started = ServiceContext<ReturnType<typeof readConfig>>;

/** The parts that routes, loops and handlers are built from. */
function createParts({ config, logger, metrics, lifecycle }: Started) {
  const { trust, networks, publicBaseUrl, paymentTtlSeconds: ttlSeconds, walletBinding } = config;
  const backends = connectBackends({ name, schema, config, logger, metrics, lifecycle });
  const client = serviceClients({ caller: name, trust, logger, metrics, lifecycle });
  const clocks = { ms: 0 };
  const watcher = createWatcherClients(client, config.chainWatcherUrl, clocks);
  const transact = createAdmission(backends.pool);
  const { walletPoolEncryptionKey: key, walletPoolEncryptionKeyPrevious: previous } = config;
  const vault = key && createKeyVault(key, previous);
  return {
    ...{ backends, clocks, watcher, transact, vault },
    messages: createPaymentMessages({ outbox: backends.outbox, metrics }),
    refresh: createAccessRefresh({ owners: createOwners(client, config), transact }),
    rules: { ttlSeconds, walletBinding, publicBaseUrl, networks: networks.map(({ id }) => id) },
    views: createViewSources({ tipReader: watcher.tipReader, networks, logger }),
  };
}

type Parts = ReturnType<typeof createParts>;

function routesOf({ config, logger, metrics }: Started, parts: Parts): Route[] {
  const { messages, refresh, rules, transact, vault } = parts;
  const { pool, operators } = parts.backends;
  const { verifiers, finders, proofs } = parts.watcher;
  const { progress, readWarnings } = parts.views;
  const { networks, publicBaseUrl, walletBinding, merchantAcceptMinPercent: leastPercent } = config;
  const ids = networks.map(({ id }) => id);
  const shown = { publicBaseUrl, progress, readWarnings };
  const listing = { db: pool, operators, networks: ids, publicBaseUrl, ...progress };
  const telling = { messages, logger };
  const creating = {
    pool,
    transact,
    rules,
    messages,
    ...{ refresh, rates: config.rates },
    fillPool: createFillPool(createStock({ vault, networks })),
  };
  const operating = { db: operators, transact: transactOn(operators) };
  return [
    ...creationRoutes({
      create: (creation) => createPayment(creating, creation),
      createTogether: (asked) => createTogether(creating, asked),
      networks,
      metrics,
    }),
    cancelPaymentRoute({ db: pool, transact, ...telling, publicBaseUrl }),
    operatorCancelRoute({ ...operating, ...telling, publicBaseUrl }),
    acceptTransferRoute({
      acceptance: { db: pool, verifier: verifiers.merchants, ...telling },
      ...{ transact, leastPercent, ...shown },
    }),
    webhookChoiceRoute({ transact }),
    ...listRoutes(listing),
    exportPaymentsRoute({ ...listing, logger }),
    reportRoute(pool),
    findPaymentsRoute({ ...listing, db: operators }),
    ...totalsRoutes(operators),
    ...unmatchedRoutes({ db: pool, operators }),
    ...paymentViewsRoutes({ db: pool, networks, watcher: proofs, ...shown }),
    ...limitsRoutes({ db: pool, refresh }),
    ratesRoute(pool, config.rates),
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
    ...poolRoutes({ db: pool, transact, vault, networks, walletBinding }),
    restoreRoute(operating),
    auditRoute(operators),
    ...archiveRoutes(operating),
    ...checkRoutes(operators),
  ];
}

await startService({
  name,
  readConfig,
  start: async (started) => {
    const { config, logger, metrics, lifecycle } = started;
    const parts = createParts(started);
    const { backends, messages, clocks, watcher, vault } = parts;
    const { pool, broker, legacy, reachable, ready } = backends;
    await reachable();
    if ((await countForeignKeys(pool, poolKeys, vault?.openedKeyIds ?? [])) > 0)
      throw new Error(
        'stored extended keys were encrypted with another key than WALLET_POOL_ENCRYPTION_KEY or its predecessor',
      );

    const handlers = [
      transferObserved(messages, clocks),
      accessChanged(),
      webhookConfigured(),
      ratesObserved(config.rates),
    ];
    lifecycle.closing(
      'consumers',
      startConsumers({ broker, pool, service: name, handlers, trust: config.trust, legacy, logger, metrics }),
    );
    const reading = { chain: watcher.chain, clocks, readClock: watcher.tipReader.clock };
    const looping = {
      db: pool,
      transact: transactOn(pool),
      messages,
      networks: config.networks,
      rates: config.rates,
      ...reading,
    };
    for (const start of loops) lifecycle.closing(start.name, start({ ...looping, logger, metrics }));
    if (vault !== null) lifecycle.closing('reseal', startResealLoop({ pool, vault, keys: resealed, logger, metrics }));

    // The first creation needs a partition for its reply, and a service that was off for months has none.
    await warmUp(logger, [() => listPayments(pool, 'none', anyPayment), () => keepReplyPartitions(pool)]);
    const routes = routesOf(started, parts);
    // The broker is not part of readiness: without it payments are still created and read, and the outbox keeps the messages.
    await serve({ name, config, legacy, logger, metrics, lifecycle, routes, ready, isUnavailable });
  },
});
