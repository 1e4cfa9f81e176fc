import type { Benchmark, BenchmarkContext } from './benchmark.ts';
import { chainAims, chainNotes, chainTables } from './chain-tables.ts';
import { addVirtualHost, startBackends, type Backends } from './support/backends.ts';
import { chainDatabase } from './support/chain-database.ts';
import { startLive, type News } from './support/chain-live.ts';
import { measureWalletMemory, type WalletMemory } from './support/chain-memory.ts';
import { RANGE } from './support/chain-networks.ts';
import { startChainNode, type ChainNode } from './support/chain-node.ts';
import { readers, startChainReader, type ChainReader } from './support/chain-reader.ts';
import { busy, startScans, stretches, type Scans, type Stretch } from './support/chain-scans.ts';
import { cpuUsOf } from './support/cpu.ts';
import { withCpu } from './support/measure.ts';
import { interleave, type Contender, type Round } from './support/rounds.ts';
import type { ServiceDatabase } from '../support/service-database.ts';
import { countStatements, type StatementCost } from './support/statements.ts';
import { startWatcherProcess } from './support/watcher-process.ts';

/** Blocks that are read over and over. One event in 5,000 goes to a watched wallet. */
const READ_BLOCKS = 500;
const ONE_MATCH_IN_BLOCKS = 33;
const MEMORY_PROCESSES = 3;
/** Of nodes on another continent, and of a node nearby. */
const LATENCIES_MS = [40, 5];
const POLL_INTERVAL_MS = 500;
const MIN_BLOCKS_HEARD = 25;
const ROUND_TRIPS = 25;
/** Nobody is there: what is said stays in the outbox. */
const NO_BROKER = 'amqp://127.0.0.1:1';

const settings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'none',
  // Holds the whole database.
  shared_buffers: '1GB',
};

/** `unit`: what is counted; `latencyMs`: of the node's answers. */
export type ChainComparison = { what: string; unit: 'events' | 'blocks'; latencyMs: number; rounds: Round[] };
export type ChainStatements = { events: number; costs: StatementCost[] };
export type ChainNews = { latencyMs: number; pollIntervalMs: number; roundTripMs: number; news: News[] };
export type ChainMeasurements = {
  reading: ChainComparison;
  scans: ChainComparison[];
  statements: ChainStatements;
  memory: WalletMemory[];
  news: ChainNews[];
};

type Parts = Backends & { context: BenchmarkContext; database: ServiceDatabase; node: ChainNode; reader: ChainReader };

/** One node, whose chain grows by what each measurement needs, and one service that follows it. */
export const benchmark: Benchmark = {
  name: 'chain',
  about:
    'reading, matching, storing and telling of transfers with a million watched wallets, beside a plain loop of eth_getLogs',
  async run(context) {
    const { onEnd, say } = context;
    say('  starting PostgreSQL, RabbitMQ and a node; watching a million wallets …');
    const backends = await startBackends('chain', settings, onEnd);
    const database = await chainDatabase(backends.adminUrl);
    const node = await startChainNode();
    onEnd(() => node.close());
    const reader = await startChainReader(node.url);
    onEnd(() => reader.close());
    const parts = { ...backends, context, database, node, reader };

    const memory: WalletMemory[] = [];
    for (let count = 0; count < MEMORY_PROCESSES; count += 1) memory.push(await measureWalletMemory(database.url));
    const reading = await compareReading(parts);
    const { scans, statements } = await compareScans(parts);
    const { published, news } = await compareWithBroker(parts);
    const measured: ChainMeasurements = { reading, scans: [...scans, published], statements, memory, news };
    return { tables: chainTables(measured), notes: chainNotes, aims: chainAims(measured), measurements: measured };
  },
};

async function compareReading({ context, node, reader }: Parts): Promise<ChainComparison> {
  const { rounds, runMs, say } = context;
  const plans = Array.from({ length: ONE_MATCH_IN_BLOCKS }, (_, block) => ({ ...busy, matches: block === 0 ? 1 : 0 }));
  await node.order({ kind: 'make', count: READ_BLOCKS, plans, receipts: true });
  await node.order({ kind: 'show', unfinal: 0 });
  const section = { from: 1, to: READ_BLOCKS, range: RANGE, events: busy.events };
  const expected = Math.ceil(READ_BLOCKS / ONE_MATCH_IN_BLOCKS);
  const { matches } = await reader.read('quittance', section);
  if (matches !== expected) throw new Error(`${matches} transfers to watched wallets were found, not ${expected}`);
  const contenders = readers.map((name): Contender => ({
    name,
    measure: async () => {
      const counters = { node: () => cpuUsOf(node.pid) };
      const { result, cpuUs } = await withCpu(counters, () => reader.read(name, section, runMs));
      return { ...result, cpuUs: { ...cpuUs, reader: result.cpuUs } };
    },
  }));
  say(`  reading: warming up, then ${rounds} rounds …`);
  await interleave(contenders, 1);
  return { what: 'reading', unit: 'events', latencyMs: 0, rounds: await interleave(contenders, rounds) };
}

async function compareScans(parts: Parts): Promise<{ scans: ChainComparison[]; statements: ChainStatements }> {
  const { database, context } = parts;
  return withWatcher(parts, 'without-broker', NO_BROKER, async (scans) => {
    const compare = (what: string, stretch: Stretch, unit: 'events' | 'blocks', latencyMs = 0) =>
      compareScan(parts, scans.contenders(stretch, unit), { what, unit, latencyMs });
    const compared = [
      await compare('catching up, busy chain', stretches.busy, 'blocks'),
      await compare('catching up, busy chain', stretches.busy, 'blocks', Math.max(...LATENCIES_MS)),
      await compare('catching up, quiet chain', stretches.quiet, 'blocks'),
      await compare('storing, all match', stretches.matching, 'events'),
    ];
    context.say('  counting statements …');
    let events = 0;
    const costs = await countStatements(database.adminUrl, async () => {
      events = (await scans.contenders(stretches.matching, 'events')[0]?.measure())?.units ?? 0;
    });
    return { scans: compared, statements: { events, costs } };
  });
}

async function compareWithBroker(parts: Parts): Promise<{ published: ChainComparison; news: ChainNews[] }> {
  const { broker, node, reader, context } = parts;
  const amqpUrl = await addVirtualHost(broker, 'chain');
  return withWatcher(parts, 'with-broker', amqpUrl, async (scans) => {
    const how = { what: 'storing, all match, with the relay at work', unit: 'events' as const, latencyMs: 0 };
    const published = await compareScan(parts, scans.contenders(stretches.matching, 'events'), how);
    const live = await startLive({ node, amqpUrl, pollIntervalMs: POLL_INTERVAL_MS });
    context.onEnd(() => live.close());
    const news: ChainNews[] = [];
    for (const latencyMs of LATENCIES_MS) {
      context.say(`  from the block to the message, answers after ${latencyMs} ms …`);
      await node.order({ kind: 'latency', ms: latencyMs });
      await live.listen(2);
      const heard = await live.listen(Math.max(MIN_BLOCKS_HEARD, 5 * context.rounds));
      const { p50Ms: roundTripMs } = await reader.roundTrips(ROUND_TRIPS);
      news.push({ latencyMs, pollIntervalMs: POLL_INTERVAL_MS, roundTripMs, news: heard });
    }
    return { published, news };
  });
}

async function withWatcher<T>(
  { directory, database, node, reader, context }: Parts,
  name: string,
  amqpUrl: string,
  run: (scans: Scans) => Promise<T>,
): Promise<T> {
  const watcher = await startWatcherProcess({
    ...{ name, directory, amqpUrl, databaseUrl: database.url, nodeUrl: node.url, pollIntervalMs: POLL_INTERVAL_MS },
  });
  context.onEnd(() => watcher.stop());
  const scans = await startScans({ node, reader, watcherPid: watcher.pid, adminUrl: database.adminUrl });
  context.onEnd(() => scans.close());
  const result = await run(scans);
  await watcher.stop();
  return result;
}

async function compareScan(
  { node, context: { rounds, say } }: Parts,
  contenders: readonly Contender[],
  how: Omit<ChainComparison, 'rounds'>,
): Promise<ChainComparison> {
  say(`  ${how.what}${how.latencyMs > 0 ? `, answers after ${how.latencyMs} ms` : ''}: ${rounds} rounds …`);
  await node.order({ kind: 'latency', ms: how.latencyMs });
  await interleave(contenders, 1);
  const measured = await interleave(contenders, rounds);
  await node.order({ kind: 'latency', ms: 0 });
  return { ...how, rounds: measured };
}
