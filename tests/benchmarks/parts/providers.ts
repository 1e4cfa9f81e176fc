import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { PaymentCreated } from '@quittance/contracts/messages.ts';
import { newMessageId } from '@quittance/messaging/broker/amqp-message.ts';
import { EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';
import { startLoneService } from '../../support/lone-service.ts';
import { serviceDatabase } from '../../support/service-database.ts';
import type { BenchmarkContext, Part } from '../benchmark.ts';
import { providerAims, providerNotes, providerTables } from './providers-tables.ts';
import { startBackends, type Backends } from '../support/backends.ts';
import { noCounts } from '../support/provider-counts.ts';
import { startForked } from '../support/forked.ts';
import { providerNetworks, providersFile, type ProviderNetwork } from '../support/provider-networks.ts';
import type { Providers } from '../support/provider-nodes-process.ts';
import { PAYEE, walletAddress } from '../support/synthetic-wallets.ts';
import { consumeTransfers } from '../support/transfers.ts';
import { situations, type NetworkUse, type ProviderMeasurements, type Situation } from '../support/provider-use.ts';

const amounts = { full: { settleMs: 10_000, historyShare: 1 }, smoke: { settleMs: 0, historyShare: 0.02 } };
const CAUGHT_UP_MS = 180_000;
/** Messages about the last blocks may still be in transit. */
const LAST_MESSAGES_MS = 15_000;

/** All networks in one process of the service, on chains that grow as fast as the real ones, in real time. */
export const providers: Part = {
  name: 'providers',
  on: 'backends',
  about: 'what reading real networks costs a day at a provider, and how long news of a transfer takes',
  parts: Object.keys(situations),
  async run(context) {
    const backends = await startBackends('providers', context);
    const { wants, scale } = context;
    const all = (Object.keys(situations) as Situation[]).filter((name) => wants(name));
    const measured: ProviderMeasurements = [];
    // One situation has everything, so it is enough for a smoke run.
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
  const nodes: Providers = startForked('provider-nodes-process.ts', 'the providers', { args: [String(historyShare)] });
  onEnd(() => nodes.close());
  const name = `providers_${situation}`;
  const database = await serviceDatabase({
    ...{ service: 'chain-watcher', adminUrl, database: name, password: 'only for a benchmark' },
  });
  const amqpUrl = await broker.addVirtualHost(name);
  const home = join(directory, name);
  await mkdir(home, { recursive: true });
  const file = join(home, 'networks.json');
  await writeFile(file, JSON.stringify(providersFile(networks, await nodes.ask('origin'), newHeads)));
  const chains = await nodes.ask('chains');
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
  return count(networks, nodes, listener, seconds);
}

type Listener = {
  /** The first message about a block, and when it came, in milliseconds since 1970. */
  arrivals: readonly { network: string; block: number; at: number }[];
  /** Creates a payment that waits on the network for half an hour. */
  createPayment(network: ProviderNetwork): Promise<void>;
  close(): Promise<void>;
};

const PAYMENT_MS = 30 * 60_000;

/** Replaces payments. */
async function startListener(amqpUrl: string): Promise<Listener> {
  const arrivals: { network: string; block: number; at: number }[] = [];
  const broker = await consumeTransfers(amqpUrl, ({ phase, network, block_number: block }, at) => {
    if (phase === 'seen') arrivals.push({ network, block, at });
  });
  return {
    arrivals,
    async createPayment({ entry }) {
      const merchant = newId('mer');
      const payment: PaymentCreated = {
        ...{ payment_id: newId('pay'), merchant_id: merchant, network: entry.id, amount: '10.5' },
        recipient: addressFromHex(entry.family, walletAddress(PAYEE)),
        created_at: new Date().toISOString(),
        expires_at: new Date(Date.now() + PAYMENT_MS).toISOString(),
      };
      const { name, version } = PaymentCreated;
      const headers = { version, merchant_id: merchant };
      const properties = { messageId: newMessageId(), type: name, headers, contentType: 'application/json' };
      const body = Buffer.from(JSON.stringify(payment));
      const [outcome] = await broker.publish([{ exchange: EXCHANGE, routingKey: name, body, properties }]);
      if (outcome !== 'confirmed') throw new Error(`the payment's message was not sent: ${outcome ?? ''}`);
    },
    close: () => broker.close(),
  };
}

async function count(
  networks: readonly ProviderNetwork[],
  nodes: Providers,
  listener: Listener,
  seconds: number,
): Promise<NetworkUse[]> {
  const before = await nodes.ask('chains');
  await nodes.ask('reset');
  const startedAt = performance.now();
  await delay(seconds * 1000);
  const counts = await nodes.ask('counts');
  const after = await nodes.ask('chains');
  const counted = (performance.now() - startedAt) / 1000;
  const paying = networks.map((network) => payingBlocks(network, before[network.id]?.head, after[network.id]?.head));
  if (listener.arrivals.length > 0) await untilTold(listener, networks, paying);
  return networks.map(({ id, blockMs, entry }, position): NetworkUse => {
    const heights = paying[position] ?? [];
    const bornAt = after[id]?.bornAt ?? 0;
    const own = listener.arrivals.filter(({ network, block }) => network === id && heights.includes(block));
    return {
      ...{ id, isProven: entry.receipts === 'proven', seconds: counted, payingBlocks: heights.length },
      endpoints: [counts[`${id}/0`] ?? noCounts(), counts[`${id}/1`] ?? noCounts()],
      latenciesMs: own.map(({ block, at }) => at - (bornAt + block * blockMs)),
    };
  });
}

/** The heights above `from`, up to `to`, that have a transfer to the payee. */
function payingBlocks({ matchEvery }: ProviderNetwork, from = 0, to = 0): number[] {
  const first = (Math.floor(from / matchEvery) + 1) * matchEvery;
  const length = Math.max(0, Math.floor((to - first) / matchEvery) + 1);
  return Array.from({ length }, (_, step) => first + step * matchEvery);
}

/** Waits for messages about the last blocks, which may be in transit; those that never arrive are missing in the result. */
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

/** Waits until every network is read up to the height that its chain had before the service started. */
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
