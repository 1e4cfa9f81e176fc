import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../support/database.ts';
import { startLoneService } from '../support/lone-service.ts';
import { serviceDatabase } from '../support/service-database.ts';
import type { Benchmark, BenchmarkContext } from './benchmark.ts';
import { providerAims, providerNotes, providerTables } from './providers-tables.ts';
import { startBackends, type Backends } from './support/backends.ts';
import { noCounts } from './support/provider-counts.ts';
import { startListener, type Listener } from './support/provider-listener.ts';
import { providerNetworks, providersFile, type ProviderNetwork } from './support/provider-networks.ts';
import { startProviders, type Providers } from './support/provider-nodes.ts';
import { situations, type NetworkUse, type ProviderMeasurements, type Situation } from './support/provider-use.ts';

const amounts = { full: { settleMs: 10_000, historyShare: 1 }, smoke: { settleMs: 0, historyShare: 0.02 } };
const CAUGHT_UP_MS = 180_000;
/** Messages about the last blocks may still be on their way. */
const LAST_MESSAGES_MS = 15_000;

/** All networks side by side in one process of the service, on chains that grow as fast as the real ones, in real time. */
export const benchmark: Benchmark = {
  name: 'providers',
  on: 'backends',
  about: 'what reading real networks costs a day at a provider, and how long news of a transfer takes',
  parts: Object.keys(situations),
  async run(context) {
    const backends = await startBackends('providers', {}, context);
    const { part, scale } = context;
    const all = (Object.keys(situations) as Situation[]).filter((name) => part === null || part === name);
    const measured: ProviderMeasurements = [];
    // The one that has everything shows that all of them work.
    for (const situation of all.filter((name) => scale === 'full' || name === 'announced')) {
      const uses = await context.attempt(situation, () => measure(situation, backends, context));
      if (uses !== undefined) measured.push({ situation, uses });
    }
    return {
      ...{ tables: providerTables(measured), notes: providerNotes, aims: providerAims(measured) },
      measurements: measured,
    };
  },
};

async function measure(situation: Situation, backends: Backends, context: BenchmarkContext): Promise<NetworkUse[]> {
  const closers: (() => Promise<void>)[] = [];
  const onEnd = (close: () => Promise<void>) => void closers.unshift(close);
  try {
    return await measureWith(situation, backends, { ...context, onEnd });
  } finally {
    for (const close of closers) await close();
  }
}

async function measureWith(
  situation: Situation,
  { adminUrl, broker, directory }: Backends,
  { minutes, scale, say, onEnd }: BenchmarkContext,
): Promise<NetworkUse[]> {
  const { title, payments, newHeads } = situations[situation];
  say(`  ${title.toLowerCase()}: catching up …`);
  const { settleMs, historyShare } = amounts[scale];
  const networks = await providerNetworks(historyShare);
  const providers = await startProviders(historyShare);
  onEnd(() => providers.close());
  const name = `providers_${situation}`;
  const database = await serviceDatabase({
    ...{ service: 'chain-watcher', adminUrl, database: name, password: 'only for a benchmark' },
  });
  const amqpUrl = await broker.addVirtualHost(name);
  const home = join(directory, name);
  await mkdir(home, { recursive: true });
  const file = join(home, 'networks.json');
  await writeFile(file, JSON.stringify(providersFile(networks, providers.origin, newHeads)));
  const { chains } = await providers.order({ kind: 'state' });
  const service = await startLoneService({
    ...{ name: 'chain-watcher', directory: home, databaseUrl: database.url, amqpUrl, env: { NETWORKS_FILE: file } },
  });
  onEnd(() => service.stop());
  const listener = await startListener(amqpUrl);
  onEnd(() => listener.close());
  await untilRead(database.adminUrl, Object.fromEntries(networks.map(({ id }) => [id, chains[id]?.head ?? 0])));
  if (payments) {
    for (const network of networks) await listener.createPayment(network);
    await untilWatching(database.adminUrl, networks.length);
  }
  await delay(settleMs);
  const seconds = minutes * 60;
  say(`  ${title.toLowerCase()}: ${Math.round(seconds)} s of ${networks.length} chains …`);
  return count(networks, providers, listener, seconds);
}

async function count(
  networks: readonly ProviderNetwork[],
  providers: Providers,
  listener: Listener,
  seconds: number,
): Promise<NetworkUse[]> {
  const { chains: before } = await providers.order({ kind: 'count' });
  const startedAt = performance.now();
  await delay(seconds * 1000);
  const { counts, chains: after } = await providers.order({ kind: 'state' });
  const counted = (performance.now() - startedAt) / 1000;
  const paying = networks.map((network) => payingBlocks(network, before[network.id]?.head, after[network.id]?.head));
  if (listener.arrivals.length > 0) await untilTold(listener, networks, paying);
  return networks.map(({ id, blockMs }, position): NetworkUse => {
    const heights = paying[position] ?? [];
    const bornAt = after[id]?.bornAt ?? 0;
    const own = listener.arrivals.filter(({ network, block }) => network === id && heights.includes(block));
    return {
      ...{ id, seconds: counted, payingBlocks: heights.length },
      endpoints: [counts[`${id}/0`] ?? noCounts(), counts[`${id}/1`] ?? noCounts()],
      latenciesMs: own.map(({ block, at }) => at - (bornAt + block * blockMs)),
    };
  });
}

/** The heights above `from` and up to `to` that have a transfer which is waited for. */
function payingBlocks({ matchEvery }: ProviderNetwork, from = 0, to = 0): number[] {
  const first = (Math.floor(from / matchEvery) + 1) * matchEvery;
  const length = Math.max(0, Math.floor((to - first) / matchEvery) + 1);
  return Array.from({ length }, (_, step) => first + step * matchEvery);
}

/** Waits for the messages about the last blocks, which may be on their way; those that never come are missing in the result. */
async function untilTold(
  { arrivals }: Listener,
  networks: readonly ProviderNetwork[],
  paying: readonly number[][],
): Promise<void> {
  const isTold = (id: string, height: number) =>
    arrivals.some(({ network, block }) => network === id && block === height);
  const areTold = () => networks.every(({ id }, at) => (paying[at] ?? []).every((height) => isTold(id, height)));
  const deadline = performance.now() + LAST_MESSAGES_MS;
  while (!areTold() && performance.now() < deadline) await delay(100);
}

/** Waits until every network has read its chain up to the height that it had before the service was started. */
const untilRead = (adminUrl: string, heights: Record<string, number>): Promise<void> =>
  withDatabase(adminUrl, (db) =>
    eventually(
      async () => {
        const { rows } = await db.query<{ network: string; number: string | null }>(
          'select network, number from chain.cursor',
        );
        const read = new Map(rows.map(({ network, number }) => [network, Number(number ?? 0)]));
        const late = Object.keys(heights).filter((id) => (read.get(id) ?? 0) < (heights[id] ?? 0));
        if (late.length > 0) throw new Error(`not read up to the head: ${late.join(', ')}`);
      },
      { timeoutMs: CAUGHT_UP_MS, intervalMs: 250 },
    ),
  );

const untilWatching = (adminUrl: string, wallets: number): Promise<void> =>
  withDatabase(adminUrl, (db) =>
    eventually(
      async () => {
        const { rows } = await db.query(`select from chain.watch where state = 'watching'`);
        if (rows.length < wallets) throw new Error(`only ${rows.length} wallets are watched`);
      },
      { timeoutMs: CAUGHT_UP_MS, intervalMs: 250 },
    ),
  );
