import type { Aim, Table } from './benchmark.ts';
import type { CreationComparison, CreationStatements, CreationWrites } from './creation.bench.ts';
import { renderSpread, shortened, significant } from './support/report.ts';
import { cpuUsPerUnit, measurementOf, ratioOf, spreadOf, type Measurement } from './support/rounds.ts';
import type { StatementCost } from './support/statements.ts';

const BASELINE = 'pgbench';
/** A creation at payments is one by one there: the gateway makes the batches. So it has no aim. */
const AIMS = { gateway: 0.5 };

const rateOf = ({ rate }: Measurement): number => rate;

export const creationAims = ({ clients, rounds }: CreationComparison): Aim[] =>
  Object.entries(AIMS).map(([contender, atLeast]) => ({
    what: `${contender}, ${clients} clients: creations/s to pgbench`,
    atLeast,
    measured: ratioOf(rounds, rateOf, contender, BASELINE),
  }));

export const creationNotes = [
  'pgbench (-M prepared) sends six statements a creation, each awaited: begin; the reply looked up and the gate locked; clock, reply,',
  "wallet and slot read; payment, wallet, counters and reply written; the outbox row written; commit. In a database of payments' own",
  'migrations on the same server, with the same settings: every commit waits for the disk. "pipelined" sends the six together.',
  'Ratios are medians of the rounds (least–greatest). CPU time of the services goes on until the last message of a run has taken',
  'effect: the relay, the broker, and chain-watcher and quota with their share of PostgreSQL work while the next creations come.',
  '"messages kept" is payments without a broker: what creations take before any service consumes their messages.',
  '"other" is what PostgreSQL spends outside those sessions: forking, the log writer, checkpoints, vacuum.',
];

export function creationTables({
  comparisons,
  writes,
  statements,
}: {
  comparisons: CreationComparison[];
  writes: CreationWrites | undefined;
  statements: CreationStatements[];
}): Table[] {
  return [
    ...comparisons.flatMap((comparison) => [rateTable(comparison), cpuTable(comparison), sessionTable(comparison)]),
    ...(writes ? [writesTable(writes)] : []),
    ...statements.map(statementTable),
  ];
}

const namesOf = (rounds: CreationComparison['rounds']): string[] => Object.keys(rounds[0] ?? {});

function rateTable({ clients, rounds }: CreationComparison): Table {
  const median = (name: string, of: (measurement: Measurement) => number): string =>
    significant(spreadOf(rounds.map((round) => of(measurementOf(round, name)))).median);
  return {
    title: `Creations, ${clients} clients`,
    columns: ['', 'creations/s', 'to pgbench', 'p50 ms', 'p99 ms', 'WAL bytes'],
    rows: namesOf(rounds).map((name) => [
      name,
      median(name, rateOf),
      name === BASELINE ? '1' : renderSpread(ratioOf(rounds, rateOf, name, BASELINE)),
      median(name, ({ p50Ms }) => p50Ms),
      median(name, ({ p99Ms }) => p99Ms),
      median(name, ({ walBytes = Number.NaN, units }) => walBytes / units),
    ]),
  };
}

const PROCESSES = [
  'api-gateway',
  'payments',
  'postgres',
  'broker',
  'chain-watcher',
  'quota',
  'webhook-dispatcher',
  'load',
];

function cpuTable({ clients, rounds }: CreationComparison): Table {
  return {
    title: `CPU µs of each process for one creation, ${clients} clients`,
    columns: ['', ...PROCESSES, 'all'],
    rows: namesOf(rounds).map((name) => {
      const spent = PROCESSES.map((process) => cpuUsPerUnit(rounds, name, process));
      const all = spent.every((us) => us !== null) ? spent.reduce((sum, us) => sum + us, 0) : null;
      return [name, ...[...spent, all].map(significant)];
    }),
  };
}

const SESSIONS = ['gateway', 'payments', 'chain', 'quota'];

/** pgbench's sessions end with its run, so its row has only the sum. */
function sessionTable({ clients, rounds }: CreationComparison): Table {
  return {
    title: `Of PostgreSQL's CPU µs, by whom it works for, ${clients} clients`,
    columns: ['', ...SESSIONS, 'other', 'all'],
    rows: namesOf(rounds)
      .filter((name) => name in AIMS)
      .map((name) => {
        const all = cpuUsPerUnit(rounds, name, 'postgres');
        const spent = SESSIONS.map((session) => cpuUsPerUnit(rounds, name, `postgres: ${session}`));
        const other = all === null ? null : spent.reduce((left: number, us) => left - (us ?? 0), all);
        return [name, ...[...spent, other, all].map(significant)];
      }),
  };
}

function writesTable({ creations, payments, pgbench }: CreationWrites): Table {
  const kinds = ['inserted', 'updated', 'deleted'] as const;
  const tables = Object.keys({ ...payments, ...pgbench });
  const perCreation = (count: number | undefined): string => String(Number(((count ?? 0) / creations).toFixed(3)));
  const rows = tables.map((table) => [
    table,
    ...[payments, pgbench].flatMap((written) => kinds.map((kind) => perCreation(written[table]?.[kind]))),
  ]);
  return {
    title: "Rows for one creation in payments' schema",
    columns: ['', ...['payments', 'pgbench'].flatMap((name) => kinds.map((kind) => `${name} ${kind}`))],
    rows: rows.filter(([, ...counts]) => counts.some((count) => count !== '0')),
  };
}

function statementTable({ contender, clients, creations, costs }: CreationStatements): Table {
  const numbers: ((cost: StatementCost) => number)[] = [
    ({ calls }) => calls,
    ({ execUs }) => execUs,
    ({ walBytes }) => walBytes,
    ({ pages }) => pages,
  ];
  const perCreation = (value: number): string => significant(value / creations);
  // What ran for one creation in a thousand is no part of it: loops of the services go on meanwhile.
  const ofCreations = costs.filter(({ execUs }) => execUs >= creations);
  return {
    title: `${contender}: SQL for one creation, ${clients} clients`,
    columns: ['', 'statements', 'execution µs', 'WAL bytes', 'pages'],
    rows: [
      ...ofCreations.map((cost) => [
        `${cost.service}: ${shortened(cost.query)}`,
        ...numbers.map((of) => perCreation(of(cost))),
      ]),
      ['all', ...numbers.map((of) => perCreation(ofCreations.reduce((sum, cost) => sum + of(cost), 0)))],
    ],
  };
}
