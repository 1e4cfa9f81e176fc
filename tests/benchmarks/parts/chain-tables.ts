import type { Aim, Table } from '../benchmark.ts';
import type { ChainComparison, ChainMeasurements, ChainNews, SideName } from './chain.ts';
import type { ProofCost } from '../support/block-proof.ts';
import type { News } from '../support/chain-live.ts';
import type { WalletMemory } from '../support/chain-memory-process.ts';
import { renderSpread, significant } from '../support/report.ts';
import { cpuUsPerUnit, spreadOf, type Spread } from '../support/rounds.ts';
import { comparedTo } from '../support/sound-baselines.ts';
import { namesOf, rateOf, rateTable, statementTable } from '../support/tables.ts';

const AIMS = {
  readingToRaw: 0.6,
  readingToEthers: 5,
  catchingUpToRaw: 0.8,
  storingToRaw: 0.08,
  roundTrips: 1.5,
  roundTripsOfProof: 1,
  megabytes: 150,
};

const rateTo = ({ rounds }: ChainComparison, contender: string, baseline = 'raw') =>
  comparedTo(rounds, rateOf, contender, baseline);

export function chainAims({ reading, scans, memory, news }: ChainMeasurements): Aim[] {
  return [
    ...(reading ? readingAims(reading) : []),
    ...scans.map((comparison): Aim => ({
      what: `${titleOf(comparison)}: ${comparison.unit}/s to raw`,
      atLeast: comparison.unit === 'blocks' ? AIMS.catchingUpToRaw : AIMS.storingToRaw,
      ...rateTo(comparison, 'chain-watcher'),
    })),
    ...news.flatMap((measured): Aim[] => [
      {
        what: `from the next poll until the message, in raw round trips (${measured.latencyMs} ms)`,
        atMost: AIMS.roundTrips,
        measured: inRoundTrips(measured),
      },
      {
        what: `how much longer where blocks are proven, in raw round trips (${measured.latencyMs} ms)`,
        atMost: AIMS.roundTripsOfProof,
        measured: roundTripsOfProof(measured),
      },
    ]),
    ...(memory.length > 0 ? [memoryAim(memory)] : []),
  ];
}

const readingAims = (reading: ChainComparison): Aim[] => [
  { what: 'events read and matched/s to raw', atLeast: AIMS.readingToRaw, ...rateTo(reading, 'quittance') },
  {
    what: "events read and matched/s to ethers' getLogs",
    atLeast: AIMS.readingToEthers,
    ...rateTo(reading, 'quittance', 'ethers'),
  },
];

const memoryAim = (memory: WalletMemory[]): Aim => ({
  what: 'MB for a million wallets',
  atMost: AIMS.megabytes,
  measured: spreadOf(memory.map(({ settledBytes }) => settledBytes / 1e6)),
});

export const chainNotes = [
  'raw: fetch, JSON.parse and a count of what eth_getLogs returns, for the same ranges of blocks of the same node. Every reader must find',
  'the events that each range has, and the service must store exactly the matching transfers. A busy block has 151 transfers of the token,',
  'which is a full block of Ethereum. Ratios are medians of the rounds (least–greatest). µs is CPU time for one event or block.',
  'A scan lasts from the request for the head until the last block is committed. What the service stores while it catches up is final:',
  'each transfer is inserted, updated and announced twice. Without a broker the messages stay in the outbox; with the relay they are',
  'published meanwhile. The node answers with bytes that are ready; its CPU time shows whether it was the bottleneck.',
  "proven: the same service where a block's hash proves its transfers, and a second endpoint confirms the hash of each block that has one.",
  'It has a chain of its own with the same blocks. "Confirming" lasts until every transfer is confirmed, "storing" until each is stored.',
  'A message should arrive 1.5 round trips after its block was requested. A poll takes three: the head, the events of its block, and the',
  'receipts of the paying transactions; then four statements, a commit and the broker. One less would mean requests for blocks that may',
  'not exist, which cost calls at a provider.',
  'Memory is that of heap and buffers after garbage collection; "most" was seen while loading, garbage included.',
];

export function chainTables({ proof, reading, scans, statements, memory, news }: ChainMeasurements): Table[] {
  return [
    ...(proof ? [proofTable(proof)] : []),
    ...[...(reading ? [reading] : []), ...scans].map(comparisonTable),
    ...statements.map(statementTable),
    ...(news.length > 0 ? [newsTable(news)] : []),
    ...(memory.length > 0 ? [memoryTable(memory)] : []),
  ];
}

const titleOf = ({ what, latencyMs }: ChainComparison): string =>
  latencyMs > 0 ? `${what}, answers after ${latencyMs} ms` : what;

const PROCESSES = ['chain-watcher', 'postgres', 'reader', 'raw', 'node'];

function comparisonTable(comparison: ChainComparison): Table {
  const { rounds, unit } = comparison;
  const processes = PROCESSES.filter((process) =>
    namesOf(rounds).some((name) => cpuUsPerUnit(rounds, name, process) !== null),
  );
  const baselines = ['raw', ...['quittance', 'chain-watcher'].filter((name) => namesOf(rounds).includes(name))];
  return rateTable({ title: titleOf(comparison), rounds, units: unit, baselines, processes });
}

const totalOf = ({ waited, told }: News): number => waited + told;

/** Without the wait for the next poll, which is always half the poll interval, and which few blocks measure badly. */
const inRoundTrips = ({ news, roundTripMs }: ChainNews): Spread =>
  spreadOf(news['chain-watcher'].map(({ told }) => told / roundTripMs));

/** Each block's news compared with the median where blocks are not proven. */
function roundTripsOfProof({ news, roundTripMs }: ChainNews): Spread {
  const { median } = spreadOf(news['chain-watcher'].map(({ told }) => told));
  return spreadOf(news.proven.map(({ told }) => (told - median) / roundTripMs));
}

function newsTable(all: ChainNews[]): Table {
  const names: SideName[] = ['chain-watcher', 'proven'];
  return {
    title: 'From the block to the message, ms',
    columns: [
      ...['', 'poll interval', 'raw round trip', 'until asked', 'from then', 'in round trips', 'together'],
      'from then, confirmed',
    ],
    rows: all.flatMap(({ latencyMs, pollIntervalMs, roundTripMs, news }) =>
      names.map((name) => {
        const untilMessage = spreadOf(news[name].map(({ told }) => told));
        return [
          `${name}, answers after ${latencyMs} ms`,
          significant(pollIntervalMs),
          significant(roundTripMs),
          renderSpread(spreadOf(news[name].map(({ waited }) => waited))),
          renderSpread(untilMessage),
          significant(untilMessage.median / roundTripMs),
          renderSpread(spreadOf(news[name].map(totalOf))),
          renderSpread(spreadOf(news[name].flatMap(({ confirmed }) => confirmed ?? []))),
        ];
      }),
    ),
  };
}

function proofTable({ receipts, bytes, compressedBytes, us }: ProofCost): Table {
  return {
    title: `Proving a block of ${receipts} receipts, µs of CPU`,
    columns: ['', 'KB', 'KB compressed', 'parse', 'header', 'encode receipts', 'trie', 'proof'],
    rows: [
      [
        'one block',
        ...[bytes / 1000, compressedBytes / 1000, us.parse, us.header, us.encode, us.trie].map(significant),
        significant(us.header + us.encode + us.trie),
      ],
    ],
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
