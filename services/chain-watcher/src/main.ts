import { createEndpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { followNewHeads } from '@quittance/chain-reader/rpc/new-heads.ts';
import { serve } from '@quittance/http/server/listen.ts';
import { connectBackends } from '@quittance/messaging/backends.ts';
import { startConsumers } from '@quittance/messaging/consumer/consumer.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import { createPool } from '@quittance/postgres/pool.ts';
import { startService } from '@quittance/runtime/service.ts';
import { readConfig } from './config.ts';
import { verifyTransferRoute } from './confirm/http.ts';
import { startStoreUsageLoop } from './endpoints/usage.ts';
import { startFalseAnswersLoop } from './incidents/false-answers.ts';
import { networkIncidentRoutes, startCountIncidentsLoop } from './incidents/http.ts';
import { chainsRoute, tipsRoute } from './leadership/http.ts';
import { startNetworkLoop } from './leadership/network-loop.ts';
import { lookUpTransactionRoute, walletStatesRoute } from './look-ups/http.ts';
import { createLookUps } from './look-ups/look-ups.ts';
import { createWalletStates } from './look-ups/wallet-states.ts';
import { createChainMetrics } from './metrics.ts';
import { schema } from './migrations.ts';
import { operatorRoutes } from './operators/http.ts';
import { startObserveRatesLoop } from './rates/observe.ts';
import { checkRoutes, transferProofsRoute, transfersInWindowsRoute } from './transfers/http.ts';
import { paymentClosed, paymentCreated } from './watches/messages.ts';

const name = 'chain-watcher';

/** A replica that is frozen for this long loses its networks to another one. */
const LEASE_MS = 15_000;

await startService({
  name,
  readConfig,
  start: async ({ config, logger, metrics, lifecycle }) => {
    const { directDatabaseUrl: url, networks, trust } = config;
    const backends = connectBackends({ name, schema, config, logger, metrics, lifecycle });
    const { pool, operators, broker, outbox, legacy, reachable, ready, clockDifferenceMs } = backends;
    await reachable();
    // One for each network, and one for the rates.
    const leaders = { max: networks.length + 1, applicationName: `${name} leader` };
    const leaderPool = createPool({ url, schema, ...leaders, logger, metrics });
    lifecycle.onStop('leader database', () => leaderPool.end());

    const handlers = [paymentCreated(config), paymentClosed(config)];
    const consumers = startConsumers({ broker, pool, service: name, handlers, trust, legacy, logger, metrics });
    lifecycle.onStop('consumers', () => consumers.close());

    if (networks.length === 0) logger.warn('no network has an RPC URL: nothing is watched');
    const chainMetrics = createChainMetrics(metrics);
    const watched = networks.map((network) => {
      const falseAnswers = startFalseAnswersLoop({ network, pool, logger, metrics, chainMetrics });
      lifecycle.onStop(`false answers ${network.id}`, () => falseAnswers.close());
      const { note: onFalse } = falseAnswers;
      const endpoints = createEndpoints({ network, timeoutMs: config.rpcTimeoutMs, logger, metrics, onFalse });
      const shared = { pool, leaderPool, leaseMs: LEASE_MS, outbox, logger, metrics: chainMetrics, clockDifferenceMs };
      const loop = startNetworkLoop({ network, endpoints, ...shared }, metrics);
      lifecycle.onStop(`scan ${network.id}`, () => loop.close());
      const newHeads = followNewHeads({ network, onAnnounced: loop.announced, logger, metrics });
      lifecycle.onStop(`new heads ${network.id}`, () => newHeads.close());
      return { network, endpoints, loop };
    });

    const leading = { pool, leaderPool, leaseMs: LEASE_MS, outbox };
    const rates = startObserveRatesLoop({ sources: config.rateSources, ...leading, logger, metrics });
    lifecycle.onStop('observe rates', () => rates.close());

    const lookUps = createLookUps({ networks: watched, logger });
    const usage = startStoreUsageLoop({ db: pool, networks: watched, logger, metrics });
    lifecycle.onStop('store usage', () => usage.close());
    const counting = startCountIncidentsLoop({ db: pool, networks, logger, metrics });
    lifecycle.onStop('count incidents', () => counting.close());

    await serve({
      name,
      config,
      legacy,
      logger,
      metrics,
      lifecycle,
      routes: [
        transfersInWindowsRoute({ pool, networks }),
        transferProofsRoute(pool),
        tipsRoute({ pool, networks }),
        verifyTransferRoute({ pool, networks: watched }),
        lookUpTransactionRoute({ pool, lookUps, limitPerHour: config.lookUpsPerHour, metrics }),
        walletStatesRoute(createWalletStates({ networks: watched, logger })),
        chainsRoute({ pool: operators, networks: watched, clockDifferenceMs }),
        ...networkIncidentRoutes(operators),
        ...checkRoutes(operators),
        ...operatorRoutes({ pool: operators, networks }),
      ],
      // Readiness does not include nodes and the broker: without them, requests are still answered correctly.
      ready,
      isUnavailable,
    });
  },
});
