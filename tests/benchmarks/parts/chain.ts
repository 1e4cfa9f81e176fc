import type { ServiceDatabase } from '../../support/service-database.ts';
import type { BenchmarkContext, Part } from '../benchmark.ts';
import { startBackends, type Backends } from '../support/backends.ts';
import { chainDatabase } from '../support/chain-database.ts';
import { startLive, type News } from '../support/chain-live.ts';
import type { MemoryProcess, WalletMemory } from '../support/chain-memory-process.ts';
import { RANGE } from '../support/chain-networks.ts';
import type { ChainNode } from '../support/chain-node-process.ts';
import type { ChainReader } from '../support/chain-reader-process.ts';
import { busy, startScans, stretchesOf, type Scans, type Stretch } from '../support/chain-scans.ts';
import { cpuUsOf } from '../support/cpu.ts';
import { startForked } from '../support/forked.ts';
import { withCpu } from '../support/measure.ts';
import { interleave, type Contender, type Round } from '../support/rounds.ts';
import { countStatements } from '../support/statements.ts';
import type { CountedStatements } from '../support/tables.ts';
import { startWatcherProcess } from '../support/watcher-process.ts';
import { chainAims, chainNotes, chainTables } from './chain-tables.ts';

/**
 * `readBlocks` are read again and again. `latenciesMs`: of nodes on another continent, and of a node nearby. The smoke run watches as
 * many wallets as take part in transfers.
 */
const amounts = {
  full: {
    ...{ wallets: 1_000_000, memoryProcesses: 3, readBlocks: 500, stretchShare: 1, latenciesMs: [40, 5] },
    ...{ pollIntervalMs: 500, blocks: { least: 25, aRound: 5 }, roundTrips: 25, warmUps: 1 },
  },
  smoke: {
    ...{ wallets: 20_000, memoryProcesses: 1, readBlocks: 66, stretchShare: 0.03, latenciesMs: [5] },
    ...{ pollIntervalMs: 100, blocks: { least: 2, aRound: 2 }, roundTrips: 2, warmUps: 0 },
  },
};
/** One event in 5,000 goes to a watched wallet. */
const ONE_MATCH_IN_BLOCKS = 33;
/** Without a broker, messages stay in the outbox. */
const NO_BROKER = 'amqp://127.0.0.1:1';

/** `unit`: what is counted; `latencyMs`: of the node's answers. */
export type ChainComparison = { what: string; unit: 'events' | 'blocks'; latencyMs: number; rounds: Round[] };
export type ChainNews = { latencyMs: number; pollIntervalMs: number; roundTripMs: number; news: News[] };
/** What was measured; without what failed. */
export type ChainMeasurements = {
  reading: ChainComparison | undefined;
  scans: ChainComparison[];
  statements: CountedStatements | undefined;
  memory: WalletMemory[];
  news: ChainNews[];
};

const parts = ['memory', 'reading', 'catching-up', 'storing', 'news'] as const;

type Run = Backends & {
  context: BenchmarkContext;
  amounts: (typeof amounts)['full'];
  database: ServiceDatabase;
  node: ChainNode;
  reader: ChainReader;
};

/** One node, whose chain grows as each measurement needs, and one service that follows it. */
export const chain: Part = {
  name: 'chain',
  on: 'backends',
  about:
    'reading, matching, storing and publishing transfers with a million watched wallets, compared with a plain loop of eth_getLogs',
  parts,
  async run(context) {
    const { onEnd, say, scale, attempt, wants } = context;
    const { wallets, memoryProcesses } = amounts[scale];
    say(`  starting PostgreSQL, RabbitMQ and a node; watching ${wallets.toLocaleString('en-US')} wallets …`);
    const backends = await startBackends('chain', context);
    const database = await chainDatabase(backends.adminUrl, wallets);
    const node: ChainNode = startForked('chain-node-process.ts', 'the chain node', {
      execArgv: ['--max-old-space-size=6144'],
    });
    onEnd(() => node.close());
    const reader: ChainReader = startForked('chain-reader-process.ts', 'the reader');
    onEnd(() => reader.close());
    await reader.ask('open', await node.ask('url'), wallets);
    const run = { ...backends, context, amounts: amounts[scale], database, node, reader };

    const measured: ChainMeasurements = { reading: undefined, scans: [], statements: undefined, memory: [], news: [] };
    if (wants('memory'))
      await attempt('memory', async () => {
        while (measured.memory.length < memoryProcesses) measured.memory.push(await memoryOfWallets(database.url));
      });
    if (wants('reading')) measured.reading = await attempt('reading', () => compareReading(run));
    if (wants('catching-up', 'storing')) await attempt('scans without a broker', () => compareScans(run, measured));
    if (wants('storing', 'news')) await attempt('scans with a broker', () => compareWithBroker(run, measured));
    return { tables: chainTables(measured), notes: chainNotes, aims: chainAims(measured), measurements: measured };
  },
};

/** Memory of a new process that loads all watched wallets as chain-watcher does. */
async function memoryOfWallets(databaseUrl: string): Promise<WalletMemory> {
  const execArgv = ['--expose-gc'];
  const loader = startForked<MemoryProcess>('chain-memory-process.ts', 'the process that loads wallets', { execArgv });
  try {
    return await loader.ask('load', databaseUrl);
  } finally {
    await loader.close();
  }
}

async function compareReading({ context, amounts, node, reader }: Run): Promise<ChainComparison> {
  const { rounds, runMs, say } = context;
  const { readBlocks, warmUps } = amounts;
  const plans = Array.from({ length: ONE_MATCH_IN_BLOCKS }, (_, block) => ({ ...busy, matches: block === 0 ? 1 : 0 }));
  await node.ask('make', readBlocks, plans, true);
  await node.ask('show', 1);
  const section = { from: 1, to: readBlocks, range: RANGE, events: busy.events };
  const expected = Math.ceil(readBlocks / ONE_MATCH_IN_BLOCKS);
  const { matches } = await reader.ask('read', 'quittance', section, null);
  if (matches !== expected) throw new Error(`${matches} transfers to watched wallets were found, not ${expected}`);
  const contenders = (['raw', 'quittance', 'ethers'] as const).map((name): Contender => ({
    name,
    measure: async () => {
      const counters = { node: () => cpuUsOf(node.pid) };
      const { result, cpuUs } = await withCpu(counters, () => reader.ask('read', name, section, runMs));
      return { ...result, cpuUs: { ...cpuUs, reader: result.cpuUs } };
    },
  }));
  say(`  reading: warming up, then ${rounds} rounds …`);
  await interleave(contenders, warmUps);
  return { what: 'reading', unit: 'events', latencyMs: 0, rounds: await interleave(contenders, rounds) };
}

async function compareScans(run: Run, measured: ChainMeasurements): Promise<void> {
  const { database, context, amounts } = run;
  const { wants } = context;
  const { busy, quiet, matching } = stretchesOf(amounts.stretchShare);
  await withWatcher(
    run,
    { name: 'without-broker', amqpUrl: NO_BROKER, pollIntervalMs: amounts.pollIntervalMs },
    async (scans) => {
      const compare = async (
        what: string,
        stretch: Stretch,
        unit: 'events' | 'blocks',
        latencyMs = 0,
      ): Promise<void> => {
        await context.attempt(what, async () => {
          const contenders = scans.contenders(stretch, unit);
          measured.scans.push(await compareScan(run, contenders, { what, unit, latencyMs }));
        });
      };
      if (wants('catching-up')) {
        await compare('catching up, busy chain', busy, 'blocks');
        await compare('catching up, busy chain', busy, 'blocks', Math.max(...amounts.latenciesMs));
        await compare('catching up, quiet chain', quiet, 'blocks');
      }
      if (!wants('storing')) return;
      await compare('storing, all match', matching, 'events');
      context.say('  counting statements …');
      measured.statements = await context.attempt('counting statements', async () => {
        let events = 0;
        const costs = await countStatements(database.adminUrl, async () => {
          events = (await scans.contenders(matching, 'events')[0]?.measure())?.units ?? 0;
        });
        return { title: 'SQL for one stored event', units: events, costs };
      });
    },
  );
}

async function compareWithBroker(run: Run, measured: ChainMeasurements): Promise<void> {
  const { broker, node, reader, context, amounts } = run;
  const { wants } = context;
  const { pollIntervalMs, blocks, stretchShare } = amounts;
  const amqpUrl = await broker.addVirtualHost('chain');
  await withWatcher(run, { name: 'with-broker', amqpUrl, pollIntervalMs }, async (scans) => {
    const how = { what: 'storing, all match, with the relay', unit: 'events' as const, latencyMs: 0 };
    if (wants('storing'))
      await context.attempt(how.what, async () => {
        const contenders = scans.contenders(stretchesOf(stretchShare).matching, 'events');
        measured.scans.push(await compareScan(run, contenders, how));
      });
    if (!wants('news')) return;
    const live = await startLive({ node, amqpUrl });
    context.onEnd(() => live.close());
    for (const latencyMs of amounts.latenciesMs) {
      context.say(`  from the block to the message, answers after ${latencyMs} ms …`);
      await node.ask('latency', latencyMs);
      await live.listen(2);
      const news = await live.listen(Math.max(blocks.least, blocks.aRound * context.rounds));
      const { p50Ms: roundTripMs } = await reader.ask('roundTrips', amounts.roundTrips);
      measured.news.push({ latencyMs, pollIntervalMs, roundTripMs, news });
    }
  });
}

async function withWatcher(
  { directory, database, node, reader, context }: Run,
  { name, amqpUrl, pollIntervalMs }: { name: string; amqpUrl: string; pollIntervalMs: number },
  run: (scans: Scans) => Promise<void>,
): Promise<void> {
  const watcher = await startWatcherProcess({
    ...{ name, directory, amqpUrl, databaseUrl: database.url, nodeUrl: await node.ask('url'), pollIntervalMs },
  });
  context.onEnd(() => watcher.stop());
  const scans = await startScans({ node, reader, watcherPid: watcher.pid, adminUrl: database.adminUrl });
  context.onEnd(() => scans.close());
  try {
    await run(scans);
  } finally {
    await watcher.stop();
  }
}

async function compareScan(
  { node, amounts: { warmUps }, context: { rounds, say } }: Run,
  contenders: readonly Contender[],
  how: Omit<ChainComparison, 'rounds'>,
): Promise<ChainComparison> {
  say(`  ${how.what}${how.latencyMs > 0 ? `, answers after ${how.latencyMs} ms` : ''}: ${rounds} rounds …`);
  await node.ask('latency', how.latencyMs);
  await interleave(contenders, warmUps);
  const measured = await interleave(contenders, rounds);
  await node.ask('latency', 0);
  return { ...how, rounds: measured };
}
