import type { Aim, Table } from './benchmark.ts';
import type { ChainComparison, ChainMeasurements, ChainNews, ChainStatements } from './chain.bench.ts';
import type { News } from './support/chain-live.ts';
import type { WalletMemory } from './support/chain-memory.ts';
import { renderSpread, shortened, significant } from './support/report.ts';
import { cpuUsPerUnit, measurementOf, ratioOf, spreadOf, type Measurement, type Spread } from './support/rounds.ts';
import type { StatementCost } from './support/statements.ts';

const AIMS = {
  readingToRaw: 0.6,
  readingToEthers: 5,
  catchingUpToRaw: 0.8,
  storingToRaw: 0.08,
  roundTrips: 1.5,
  megabytes: 150,
};

const rateOf = ({ rate }: Measurement): number => rate;
const ratio = ({ rounds }: ChainComparison, contender: string, baseline = 'raw'): Spread =>
  ratioOf(rounds, rateOf, contender, baseline);

export function chainAims({ reading, scans, memory, news }: ChainMeasurements): Aim[] {
  return [
    ...(reading ? readingAims(reading) : []),
    ...scans.map((comparison): Aim => ({
      what: `${titleOf(comparison)}: ${comparison.unit}/s to raw`,
      atLeast: comparison.unit === 'blocks' ? AIMS.catchingUpToRaw : AIMS.storingToRaw,
      measured: ratio(comparison, 'chain-watcher'),
    })),
    ...news.map((measured): Aim => ({
      what: `from the next poll until the message, in raw round trips (${measured.latencyMs} ms)`,
      atMost: AIMS.roundTrips,
      measured: inRoundTrips(measured),
    })),
    ...(memory.length > 0 ? [memoryAim(memory)] : []),
  ];
}

const readingAims = (reading: ChainComparison): Aim[] => [
  { what: 'events read and matched/s to raw', atLeast: AIMS.readingToRaw, measured: ratio(reading, 'quittance') },
  {
    what: "events read and matched/s to ethers' getLogs",
    atLeast: AIMS.readingToEthers,
    measured: ratio(reading, 'quittance', 'ethers'),
  },
];

const memoryAim = (memory: WalletMemory[]): Aim => ({
  what: 'MB for a million wallets',
  atMost: AIMS.megabytes,
  measured: spreadOf(memory.map(({ settledBytes }) => settledBytes / 1e6)),
});

export const chainNotes = [
  'raw: fetch, JSON.parse, count what eth_getLogs gives, for the same blocks in the same ranges of the same node. Every reader is held to',
  'the number of events that each range has, and the service to the number of transfers it has to store. A busy block has 151 transfers of',
  'the token, which is a full block of Ethereum. Ratios are medians of the rounds (least–greatest). µs is CPU time for one event or block.',
  'A scan is timed from when the service asked for the head until the last block was committed. While it catches up, what it stores is',
  'final: each transfer is inserted, updated and told of twice. Without a broker the messages stay in the outbox; "with the relay" they',
  'are published meanwhile. The node answers with bytes that lie ready; its CPU time says whether it was the bottleneck.',
  'A message should be there 1.5 round trips after its block was asked for. A poll takes three: the head, the events of its block, and the',
  'receipts of what they pay; then four statements, a commit and the broker. One less means to ask for blocks that are not known to exist,',
  'which costs calls of a provider.',
  'Memory is that of heap and buffers once garbage is collected; "most" was seen while loading, garbage included.',
];

export function chainTables({ reading, scans, statements, memory, news }: ChainMeasurements): Table[] {
  return [
    ...[...(reading ? [reading] : []), ...scans].map(comparisonTable),
    ...(statements ? [statementTable(statements)] : []),
    ...(news.length > 0 ? [newsTable(news)] : []),
    ...(memory.length > 0 ? [memoryTable(memory)] : []),
  ];
}

const titleOf = ({ what, latencyMs }: ChainComparison): string =>
  latencyMs > 0 ? `${what}, answers after ${latencyMs} ms` : what;

const PROCESSES = ['chain-watcher', 'postgres', 'reader', 'raw', 'node'];

function comparisonTable(comparison: ChainComparison): Table {
  const { rounds, unit } = comparison;
  const names = Object.keys(rounds[0] ?? {});
  const processes = PROCESSES.filter((process) => names.some((name) => cpuUsPerUnit(rounds, name, process) !== null));
  return {
    title: `${titleOf(comparison)}: ${unit}`,
    columns: ['', `${unit}/s`, 'to raw', ...processes.map((process) => `${process} µs`)],
    rows: names.map((name) => [
      name,
      significant(spreadOf(rounds.map((round) => rateOf(measurementOf(round, name)))).median),
      name === 'raw' ? '1' : renderSpread(ratio(comparison, name)),
      ...processes.map((process) => significant(cpuUsPerUnit(rounds, name, process))),
    ]),
  };
}

function statementTable({ events, costs }: ChainStatements): Table {
  // What ran for one event in a thousand is no part of it: loops of the service go on meanwhile.
  const ofEvents = costs.filter(({ execUs }) => execUs >= events / 10);
  const numbers: ((cost: StatementCost) => number)[] = [
    ({ calls }) => calls,
    ({ execUs }) => execUs,
    ({ walBytes }) => walBytes,
    ({ pages }) => pages,
  ];
  return {
    title: 'SQL for one stored event',
    columns: ['', 'statements', 'execution µs', 'WAL bytes', 'pages'],
    rows: [
      ...ofEvents.map((cost) => [shortened(cost.query), ...numbers.map((of) => significant(of(cost) / events))]),
      ['all', ...numbers.map((of) => significant(ofEvents.reduce((sum, cost) => sum + of(cost), 0) / events))],
    ],
  };
}

const totalOf = ({ waited, told }: News): number => waited + told;

/** The wait for the next poll is left out: it is half the poll interval by its nature, and a few blocks only measure it badly. */
function inRoundTrips({ news, roundTripMs }: ChainNews): Spread {
  const { median, min, max } = spreadOf(news.map(({ told }) => told));
  return { median: median / roundTripMs, min: min / roundTripMs, max: max / roundTripMs };
}

function newsTable(all: ChainNews[]): Table {
  return {
    title: 'From the block to the message, ms',
    columns: ['', 'poll interval', 'raw round trip', 'until asked', 'from then', 'in round trips', 'together'],
    rows: all.map(({ latencyMs, pollIntervalMs, roundTripMs, news }) => {
      const untilMessage = spreadOf(news.map(({ told }) => told));
      return [
        `answers after ${latencyMs} ms`,
        significant(pollIntervalMs),
        significant(roundTripMs),
        renderSpread(spreadOf(news.map(({ waited }) => waited))),
        renderSpread(untilMessage),
        significant(untilMessage.median / roundTripMs),
        renderSpread(spreadOf(news.map(totalOf))),
      ];
    }),
  };
}

function memoryTable(memory: WalletMemory[]): Table {
  const megabytes = (of: (measured: WalletMemory) => number): string =>
    renderSpread(spreadOf(memory.map((measured) => of(measured) / 1e6)));
  return {
    title: 'A million wallets in memory',
    columns: ['', 'MB', 'most', 'seconds'],
    rows: [
      [
        'as the service loads them',
        megabytes(({ settledBytes }) => settledBytes),
        megabytes(({ peakBytes }) => peakBytes),
        renderSpread(spreadOf(memory.map(({ seconds }) => seconds))),
      ],
    ],
  };
}
