import type { ServiceDatabase } from '../../support/service-database.ts';
import type { BenchmarkContext, Part } from '../benchmark.ts';
import { startBackends, type Backends } from '../support/backends.ts';
import { chainDatabase } from '../support/chain-database.ts';
import type { ProofCost } from '../support/block-proof.ts';
import { startLive, type Live, type News } from '../support/chain-live.ts';
import type { MemoryProcess, WalletMemory } from '../support/chain-memory-process.ts';
import { RANGE, type Receipts } from '../support/chain-networks.ts';
import type { ChainNode } from '../support/chain-node-process.ts';
import type { ChainReader } from '../support/chain-reader-process.ts';
import { busy, startScans, stretchesOf, type ScanOf, type Scans, type Stretch } from '../support/chain-scans.ts';
import { cpuUsOf } from '../support/cpu.ts';
import { startForked } from '../support/forked.ts';
import { withCpu } from '../support/measure.ts';
import { interleave, type Contender, type Round } from '../support/rounds.ts';
import { compare } from '../support/sound-baselines.ts';
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
const HALF_A_BLOCK_MS = 500;
/** Without a broker, messages stay in the outbox. */
const NO_BROKER = 'amqp://127.0.0.1:1';

/** What a proof costs is measured on one block with this many receipts. */
const provenPlan = { events: 130, matches: 1, others: 20 };

/** `unit`: what is counted; `latencyMs`: of the node's answers. */
export type ChainComparison = ScanOf & { what: string; latencyMs: number; rounds: Round[] };
/** News of each service, which all get blocks at the same rate. */
export type ChainNews = {
  latencyMs: number;
  pollIntervalMs: number;
  roundTripMs: number;
  news: Record<SideName, News[]>;
};
/** `chain-watcher`: where receipts are checked one by one; `proven`: where a block's hash proves them, with a second endpoint. */
export type SideName = 'chain-watcher' | 'proven';
/** What was measured; without what failed. */
export type ChainMeasurements = {
  reading: ChainComparison | undefined;
  scans: ChainComparison[];
  proof: ProofCost | undefined;
  statements: CountedStatements[];
  memory: WalletMemory[];
  news: ChainNews[];
};

const parts = ['memory', 'proof', 'reading', 'catching-up', 'storing', 'news'] as const;

type Run = Backends & {
  context: BenchmarkContext;
  amounts: (typeof amounts)['full'];
  sides: Record<SideName, Side>;
  reader: ChainReader;
};

/** A node, whose chain grows as each measurement needs, and the database of a service that follows it. */
type Side = { name: SideName; receipts: Receipts; node: ChainNode; database: ServiceDatabase };

/** Two services, each with its own chain, take turns: one reads proven blocks. */
export const chain: Part = {
  name: 'chain',
  on: 'backends',
  short: {},
  about:
    'reading, matching, storing and publishing transfers with a million watched wallets, compared with a plain loop of eth_getLogs',
  parts,
  async run(context) {
    const { onEnd, say, scale, attempt, wants, runMs } = context;
    const { wallets, memoryProcesses } = amounts[scale];
    say(`  starting PostgreSQL, RabbitMQ and a node; watching ${wallets.toLocaleString('en-US')} wallets …`);
    const backends = await startBackends('chain', context);
    const openSide = async (name: SideName, receipts: Receipts): Promise<Side> => {
      const node: ChainNode = startForked('chain-node-process.ts', 'the chain node', {
        execArgv: ['--max-old-space-size=6144'],
      });
      onEnd(() => node.close());
      return { name, receipts, node, database: await chainDatabase(backends.adminUrl, `chain_${receipts}`, wallets) };
    };
    const sides = {
      'chain-watcher': await openSide('chain-watcher', 'unproven'),
      proven: await openSide('proven', 'proven'),
    };
    const { node, database } = sides['chain-watcher'];
    const reader: ChainReader = startForked('chain-reader-process.ts', 'the reader');
    onEnd(() => reader.close());
    await reader.ask('open', await node.ask('url'), wallets);
    const run = { ...backends, context, amounts: amounts[scale], sides, reader };

    const measured: ChainMeasurements = {
      ...{ proof: undefined, reading: undefined, scans: [], statements: [], memory: [], news: [] },
    };
    if (wants('memory'))
      await attempt('memory', async () => {
        while (measured.memory.length < memoryProcesses) measured.memory.push(await memoryOfWallets(database.url));
      });
    if (wants('proof'))
      measured.proof = await attempt('proof', async () => {
        await node.ask('make', 1, [provenPlan], true);
        return reader.ask('prove', (await node.ask('show', 1)).head, runMs);
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

async function compareReading({ context, amounts, sides, reader }: Run): Promise<ChainComparison> {
  const { rounds, runMs, say } = context;
  const { readBlocks, warmUps } = amounts;
  const { node } = sides['chain-watcher'];
  const plans = Array.from({ length: ONE_MATCH_IN_BLOCKS }, (_, block) => ({ ...busy, matches: block === 0 ? 1 : 0 }));
  const before = await node.ask('make', readBlocks, plans, true);
  await node.ask('show', 1);
  const section = { from: before + 1, to: before + readBlocks, range: RANGE, events: busy.events };
  const expected = Math.ceil(readBlocks / ONE_MATCH_IN_BLOCKS);
  for (const way of ['quittance', 'proven'] as const) {
    const { matches } = await reader.ask('read', way, section, null);
    if (matches !== expected) throw new Error(`${matches} transfers to watched wallets were found, not ${expected}`);
  }
  const contenders = (['raw', 'quittance', 'proven', 'ethers'] as const).map((name): Contender => ({
    name,
    measure: async () => {
      const counters = { node: () => cpuUsOf(node.pid) };
      const { result, cpuUs } = await withCpu(counters, () => reader.ask('read', name, section, runMs));
      return { ...result, cpuUs: { ...cpuUs, reader: result.cpuUs } };
    },
  }));
  say(`  reading: warming up, then ${rounds} rounds …`);
  await interleave(contenders, warmUps);
  const of = { unit: 'events', until: 'stored' } as const;
  return { what: 'reading', ...of, latencyMs: 0, rounds: await compare(context, contenders, ['raw', 'ethers']) };
}

async function compareScans(run: Run, measured: ChainMeasurements): Promise<void> {
  const { sides, context, amounts } = run;
  const { wants } = context;
  const { busy, quiet, matching } = stretchesOf(amounts.stretchShare);
  const without = async () => NO_BROKER;
  await withWatchers(run, { name: 'without-broker', amqpUrlOf: without }, async (scans) => {
    const scan = async (what: string, stretch: Stretch, unit: ScanOf['unit'], latencyMs = 0): Promise<void> => {
      await context.attempt(what, async () => {
        measured.scans.push(await compareScan(run, scans, stretch, { what, unit, until: 'stored', latencyMs }));
      });
    };
    if (wants('catching-up')) {
      await scan('catching up, busy chain', busy, 'blocks');
      await scan('catching up, busy chain', busy, 'blocks', Math.max(...amounts.latenciesMs));
      await scan('catching up, quiet chain', quiet, 'blocks');
    }
    if (!wants('storing')) return;
    await scan('storing, all match', matching, 'events');
    context.say('  counting statements …');
    for (const { name, database } of Object.values(sides)) {
      await context.attempt('counting statements', async () => {
        let events = 0;
        const costs = await countStatements(database.adminUrl, async () => {
          const of = { unit: 'events', until: 'confirmed' } as const;
          events = (await scans[name].contender(name, matching, of).measure()).units;
        });
        measured.statements.push({ title: `SQL for one stored event: ${name}`, units: events, costs });
      });
    }
  });
}

async function compareWithBroker(run: Run, measured: ChainMeasurements): Promise<void> {
  const { broker, sides, context, amounts } = run;
  const { wants } = context;
  const urls = new Map<Receipts, string>();
  const amqpUrlOf = async ({ receipts }: Side): Promise<string> => {
    const url = await broker.addVirtualHost(`chain-${receipts}`);
    urls.set(receipts, url);
    return url;
  };
  await withWatchers(run, { name: 'with-broker', amqpUrlOf }, async (scans) => {
    const how = { what: 'confirming, all match, with the relay', latencyMs: 0 };
    if (wants('storing'))
      await context.attempt(how.what, async () => {
        const of = { unit: 'events', until: 'confirmed' } as const;
        const { matching } = stretchesOf(amounts.stretchShare);
        measured.scans.push(await compareScan(run, scans, matching, { ...how, ...of }));
      });
    if (!wants('news')) return;
    const open = async ({ node, receipts }: Side): Promise<Live> => {
      const live = await startLive({ node, amqpUrl: urls.get(receipts) ?? NO_BROKER });
      context.onEnd(() => live.close());
      return live;
    };
    const lives = { 'chain-watcher': await open(sides['chain-watcher']), proven: await open(sides.proven) };
    for (const latencyMs of amounts.latenciesMs) measured.news.push(await compareNews(run, lives, latencyMs));
  });
}

async function compareNews(
  { sides, reader, context, amounts }: Run,
  lives: Record<SideName, Live>,
  latencyMs: number,
): Promise<ChainNews> {
  const { blocks, pollIntervalMs, roundTrips } = amounts;
  context.say(`  from the block to the message, answers after ${latencyMs} ms …`);
  for (const { node } of Object.values(sides)) await node.ask('latency', latencyMs);
  // Half a block apart, so that the two do not work at the same time.
  const listen = async (count: number) => {
    const [unproven, proven] = await Promise.all([
      lives['chain-watcher'].listen(count, 0),
      lives.proven.listen(count, HALF_A_BLOCK_MS),
    ]);
    return { 'chain-watcher': unproven, proven };
  };
  await listen(2);
  const news = await listen(Math.max(blocks.least, blocks.aRound * context.rounds));
  const { p50Ms: roundTripMs } = await reader.ask('roundTrips', roundTrips);
  return { latencyMs, pollIntervalMs, roundTripMs, news };
}

/** Starts the service of each side, and stops both at the end. */
async function withWatchers(
  { directory, sides, reader, context, amounts: { pollIntervalMs } }: Run,
  { name, amqpUrlOf }: { name: string; amqpUrlOf: (side: Side) => Promise<string> },
  run: (scans: Record<SideName, Scans>) => Promise<void>,
): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  const start = async (side: Side): Promise<Scans> => {
    const { node, database, receipts } = side;
    const watcher = await startWatcherProcess({
      ...{ name: `${name}-${receipts}`, directory, receipts, pollIntervalMs, amqpUrl: await amqpUrlOf(side) },
      ...{ databaseUrl: database.url, nodeUrl: await node.ask('url') },
    });
    stops.push(() => watcher.stop());
    context.onEnd(() => watcher.stop());
    const scans = await startScans({ node, reader, watcherPid: watcher.pid, adminUrl: database.adminUrl });
    context.onEnd(() => scans.close());
    return scans;
  };
  try {
    await run({ 'chain-watcher': await start(sides['chain-watcher']), proven: await start(sides.proven) });
  } finally {
    for (const stop of stops) await stop();
  }
}

async function compareScan(
  { sides, amounts: { warmUps }, context }: Run,
  scans: Record<SideName, Scans>,
  stretch: Stretch,
  how: Omit<ChainComparison, 'rounds'>,
): Promise<ChainComparison> {
  const contenders = [
    ...Object.values(sides).map(({ name }) => scans[name].contender(name, stretch, how)),
    scans['chain-watcher'].raw(how.unit),
  ];
  const setLatency = async (latencyMs: number): Promise<void> => {
    for (const { node } of Object.values(sides)) await node.ask('latency', latencyMs);
  };
  const { rounds, say } = context;
  say(`  ${how.what}${how.latencyMs > 0 ? `, answers after ${how.latencyMs} ms` : ''}: ${rounds} rounds …`);
  await setLatency(how.latencyMs);
  await interleave(contenders, warmUps);
  const measured = await compare(context, contenders, ['raw']);
  await setLatency(0);
  return { ...how, rounds: measured };
}
