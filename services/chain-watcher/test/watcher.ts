import type { AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { createApp } from '@quittance/http/server/app.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { startConsumers } from '@quittance/messaging/consumer/consumer.ts';
import { createOutbox } from '@quittance/messaging/outbox/outbox.ts';
import { createPool, ping } from '@quittance/postgres/pool.ts';
import { createMetrics, type Metrics } from '@quittance/runtime/metrics.ts';
import { networksOf, type NetworksFileOptions } from '@quittance/testkit/chain/samples.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { paymentClosed, paymentCreated } from '../src/watches/messages.ts';
import { startFalseAnswersLoop } from '../src/incidents/false-answers.ts';
import { startCountIncidentsLoop, networkIncidentRoutes } from '../src/incidents/http.ts';
import { startNetworkLoop } from '../src/leadership/network-loop.ts';
import { createChainMetrics } from '../src/metrics.ts';
import { schema } from '../src/migrations.ts';
import { readNetworks } from '@quittance/chain-reader/chain/networks.ts';
import { chainsRoute, tipsRoute } from '../src/leadership/http.ts';
import { operatorRoutes } from '../src/operators/http.ts';
import { verifyTransferRoute } from '../src/confirm/http.ts';
import { transferProofsRoute, transfersInWindowsRoute } from '../src/transfers/http.ts';
import { walletStatesRoute } from '../src/look-ups/http.ts';
import { createWalletStates } from '../src/look-ups/wallet-states.ts';
import { createEndpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { followNewHeads } from '@quittance/chain-reader/rpc/new-heads.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';

export type WatcherOptions = NetworksFileOptions & {
  databaseUrl: string;
  amqpUrl: string;
  watchGraceSeconds?: number;
  leaseMs?: number;
  rpcTimeoutMs?: number;
  /** The URL for the connection that holds the lead, instead of the database's own. */
  leaderDatabaseUrl?: string;
};

export type RunningWatcher = {
  metrics: Metrics;
  /** Calls the service's internal API. */
  call(method: string, path: string, json?: unknown): Promise<{ status: number; body: unknown }>;
  close(): Promise<void>;
};

export const INTERNAL_TOKEN = 'test-internal-token-of-at-least-32-characters';
const trust = sharedTrust(INTERNAL_TOKEN);

/** Composes the service inside this process, as main.ts does. */
export function startWatcher(options: WatcherOptions): RunningWatcher {
  const metrics = createMetrics({ service: 'chain-watcher', processMetrics: false });
  const common = { logger: testLogger, metrics };
  const database = { url: options.databaseUrl, schema, logger: testLogger };
  const pool = createPool({ ...database, max: 5, applicationName: 'watcher' });
  const leaderPool = createPool({
    ...{ ...database, url: options.leaderDatabaseUrl ?? options.databaseUrl },
    ...{ max: 1, applicationName: 'watcher leader' },
  });
  const broker = connectBroker({ ...common, url: options.amqpUrl, name: 'chain-watcher' });
  const outbox = createOutbox({ ...common, pool, broker, signer: null, pollMs: 50 });
  const [network] = readNetworks(networksOf(options), {});
  if (network === undefined) throw new Error('the network is switched off');
  const chainMetrics = createChainMetrics(metrics);
  const falseAnswers = startFalseAnswersLoop({ ...common, network, pool, chainMetrics });
  const endpoints = createEndpoints({
    ...{ ...common, network, timeoutMs: options.rpcTimeoutMs ?? 15_000 },
    onFalse: falseAnswers.note,
  });
  const settings = { watchGraceSeconds: options.watchGraceSeconds ?? 86_400 };
  const handlers = [paymentCreated(settings), paymentClosed(settings)];
  const consumers = startConsumers({ ...common, broker, pool, service: 'chain-watcher', handlers, trust });
  const leaseMs = options.leaseMs ?? 15_000;
  // Two seconds ahead of the database's.
  const clockDifferenceMs = () => 2_000;
  const context = {
    ...{ ...common, network, endpoints, pool, leaderPool, leaseMs, outbox, clockDifferenceMs },
    metrics: chainMetrics,
  };
  const counting = startCountIncidentsLoop({ ...common, db: pool, networks: [network] });
  const loop = startNetworkLoop(context, metrics);
  const newHeads = followNewHeads({ ...common, network, onAnnounced: loop.announced });
  const routes = [
    transfersInWindowsRoute({ pool, networks: [network] }),
    transferProofsRoute(pool),
    tipsRoute({ pool, networks: [network] }),
    verifyTransferRoute({ pool, networks: [{ network, endpoints }] }),
    walletStatesRoute(createWalletStates({ networks: [{ network, endpoints }], logger: testLogger })),
    chainsRoute({ pool, networks: [{ network, endpoints, loop }], clockDifferenceMs }),
    ...networkIncidentRoutes(pool),
    ...operatorRoutes({ pool, networks: [network] }),
  ];
  const app = createApp({
    ...common,
    name: 'chain-watcher',
    routes,
    trust,
    ready: () => ping(pool),
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  let closed: Promise<void> | null = null;

  return {
    metrics,
    async call(method: string, path: string, json?: unknown) {
      const { port } = server.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { 'x-internal-token': INTERNAL_TOKEN, 'content-type': 'application/json' },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
      return { status: response.status, body: await response.json() };
    },
    close: () => (closed ??= close()),
  };

  async function close(): Promise<void> {
    server.closeAllConnections();
    server.close();
    newHeads.close();
    await counting.close();
    await loop.close();
    await falseAnswers.close();
    await consumers.close();
    await outbox.close();
    await broker.close();
    await Promise.all([pool.end(), leaderPool.end()]);
  }
}
