import type { Aim, Table } from './benchmark.ts';
import type { SizeBytes, SizeComparison, SizeStatements, UniqueComparison } from './size.bench.ts';
import { renderSpread, shortened, significant } from './support/report.ts';
import { measurementOf, ratioOf, spreadOf, type Measurement } from './support/rounds.ts';
import { CREATION, UNIQUE_CREATION } from './support/sized-requests.ts';
import { SHARED_BUFFERS } from './support/sized-payments.ts';
import type { StatementCost } from './support/statements.ts';

const AIM = 1.2;
const UNIQUE_AIM = 1.3;

/** The baseline, and the sizes that are compared with it. */
const split = ([smallest = 0, ...larger]: readonly number[]) => ({
  smallest,
  larger,
  largest: larger.at(-1) ?? smallest,
});

const timeOf = ({ rate }: Measurement): number => 1 / rate;

const timeRatio = ({ rounds }: SizeComparison, size: number, smallest: number) =>
  ratioOf(rounds, timeOf, String(size), String(smallest));

export function sizeAims(comparison: SizeComparison, sizes: readonly number[]): Aim[] {
  const { smallest, larger } = split(sizes);
  return larger.map((size) => ({
    what: `${comparison.operation}: time with ${name(size)} to ${name(smallest)}`,
    atMost: AIM,
    measured: timeRatio(comparison, size, smallest),
  }));
}

/** A unique amount beside a plain one. */
const uniqueRatio = ({ rounds }: UniqueComparison) => ratioOf(rounds, timeOf, UNIQUE_CREATION, CREATION);

export const uniqueAims = (unique: UniqueComparison | undefined): Aim[] =>
  unique === undefined
    ? []
    : [
        {
          what: `${UNIQUE_CREATION}: time with ${name(unique.size)} to that of a plain one`,
          atMost: UNIQUE_AIM,
          measured: uniqueRatio(unique),
        },
      ];

export const sizeNotes = [
  'Time is that of one operation while four are under way, CPU that of payments and PostgreSQL together; medians of the rounds',
  '(least–greatest). Lists are the largest merchant\'s, who has a fifth of all payments; "any page" begins anywhere among them.',
  'Matching is one transfer said to be seen and then to be confirmed, through the broker, until its payment is PAID.',
  'Pages are of 8 KiB, found in or read into shared memory. An index over a hundred times as many rows is one level deeper, so one',
  'page more for each look-up belongs to any B-tree; it costs about a microsecond.',
  `shared_buffers is ${SHARED_BUFFERS}, more than all databases together. With 128 MB, PostgreSQL's default, the ratios were the same while the page`,
  'cache of the system held the rest. Where memory holds neither, each page that is missing is a read from the disk: then a larger',
  'database costs as much more as more of its look-ups miss. Ids, lists and expiry read where the newest rows are; tokens lie anywhere.',
];

export function sizeTables(measured: {
  sizes: readonly number[];
  comparisons: SizeComparison[];
  statements: SizeStatements[];
  bytes: SizeBytes[];
  unique: UniqueComparison | undefined;
}): Table[] {
  const { sizes, comparisons, statements, bytes, unique } = measured;
  return [
    {
      title: 'Databases',
      columns: ['', 'MB'],
      rows: bytes.map(({ size, bytes }) => [name(size), significant(bytes / 1_000_000)]),
    },
    timeTable(comparisons, sizes),
    sqlTable(statements, sizes),
    growingTable(statements, sizes),
    ...(unique === undefined ? [] : [uniqueTable(unique)]),
  ];
}

function timeTable(comparisons: SizeComparison[], sizes: readonly number[]): Table {
  const { smallest, larger } = split(sizes);
  const cpuOf = ({ cpuUs, units }: Measurement): number =>
    ((cpuUs['payments'] ?? Number.NaN) + (cpuUs['postgres'] ?? Number.NaN)) / units;
  return {
    title: 'One operation',
    columns: [
      '',
      ...sizes.map((size) => `${name(size)}: µs`),
      ...larger.map((size) => `time ${name(size)} to ${name(smallest)}`),
      ...sizes.map((size) => `${name(size)}: CPU µs`),
    ],
    rows: comparisons.map((comparison) => {
      const median = (size: number, of: (measurement: Measurement) => number): string =>
        significant(spreadOf(comparison.rounds.map((round) => of(measurementOf(round, String(size))))).median);
      return [
        comparison.operation,
        ...sizes.map((size) => median(size, (measurement) => timeOf(measurement) * 1e6)),
        ...larger.map((size) => renderSpread(timeRatio(comparison, size, smallest))),
        ...sizes.map((size) => median(size, cpuOf)),
      ];
    }),
  };
}

function uniqueTable(unique: UniqueComparison): Table {
  return {
    title: `Creations in turn, ${name(unique.size)}`,
    columns: ['', 'µs', 'to a plain one'],
    rows: [CREATION, UNIQUE_CREATION].map((operation) => [
      operation,
      significant(spreadOf(unique.rounds.map((round) => timeOf(measurementOf(round, operation)))).median * 1e6),
      operation === CREATION ? '1' : renderSpread(uniqueRatio(unique)),
    ]),
  };
}

/** Loops of the service run a few times meanwhile; what belongs to an operation runs for most of them, or for several at once. */
const isOfOperation = (cost: StatementCost, operations: number): boolean => cost.calls >= operations / 20;

function sqlTable(statements: SizeStatements[], sizes: readonly number[]): Table {
  const { smallest, largest } = split(sizes);
  const operations = [...new Set(statements.map(({ operation }) => operation))];
  const sum = (operation: string, size: number, of: (cost: StatementCost) => number): number => {
    const counted = statements.find((entry) => entry.operation === operation && entry.size === size);
    if (counted === undefined) return Number.NaN;
    const costs = counted.costs.filter((cost) => isOfOperation(cost, counted.operations));
    return costs.reduce((total, cost) => total + of(cost), 0) / counted.operations;
  };
  return {
    title: 'SQL for one operation',
    columns: [
      '',
      ...sizes.map((size) => `${name(size)}: pages`),
      `${name(largest)} to ${name(smallest)}`,
      ...sizes.map((size) => `${name(size)}: execution µs`),
      `${name(largest)} to ${name(smallest)} `,
    ],
    rows: operations.map((operation) => {
      const cells = (of: (cost: StatementCost) => number): string[] => [
        ...sizes.map((size) => significant(sum(operation, size, of))),
        significant(sum(operation, largest, of) / sum(operation, smallest, of)),
      ];
      return [operation, ...cells(({ pages }) => pages), ...cells(({ execUs }) => execUs)];
    }),
  };
}

/** Statements that read at least this many pages more of the largest database, and half as many again: more than a deeper index. */
const GROWN_BY_PAGES = 5;

function growingTable(statements: SizeStatements[], sizes: readonly number[]): Table {
  const { smallest, largest } = split(sizes);
  const rows = statements
    .filter(({ size }) => size === largest)
    .flatMap(({ operation, operations, costs }) =>
      costs
        .filter((cost) => isOfOperation(cost, operations))
        .map((cost) => {
          const small = statements
            .find((entry) => entry.operation === operation && entry.size === smallest)
            ?.costs.find(({ query }) => query === cost.query);
          return { operation, cost, small };
        }),
    )
    .map(({ operation, cost, small }) => {
      const [before, after] = [small === undefined ? 0 : small.pages / small.calls, cost.pages / cost.calls];
      return { operation, query: cost.query, before, after };
    })
    .filter(({ before, after }) => after - before >= GROWN_BY_PAGES && after >= 1.5 * before);
  return {
    title: 'Statements that read more pages the more payments there are',
    columns: ['', `${name(smallest)}: pages`, `${name(largest)}: pages`],
    rows: rows.map(({ operation, query, before, after }) => [
      `${operation}: ${shortened(query)}`,
      significant(before),
      significant(after),
    ]),
  };
}

function name(size: number): string {
  return size >= 1_000_000 ? `${size / 1_000_000} M` : `${size / 1_000} k`;
}
