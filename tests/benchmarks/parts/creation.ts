import type { Aim, Part, Table } from '../benchmark.ts';
import { analyzeAll, startCreators, type Creator, type Creators } from '../support/creators.ts';
import { findPgbench } from '../support/pgbench.ts';
import { significant } from '../support/report.ts';
import { cpuUsPerUnit, interleave, measurementOf, spreadOf, type Round } from '../support/rounds.ts';
import { compare, comparedTo } from '../support/sound-baselines.ts';
import { countStatements } from '../support/statements.ts';
import {
  cpuTable,
  latencyFigures,
  namesOf,
  rateOf,
  rateTable,
  statementTable,
  walFigure,
  type CountedStatements,
} from '../support/tables.ts';
import { countWritten, requireSameWrites, type Written } from '../support/written.ts';

/** Clients of the load generator and of pgbench. `counted` is a multiple of the clients, because pgbench counts for each client. */
const amounts = {
  full: { clients: [1, 8, 32], warmUpMs: 5_000, counted: 2_048 },
  smoke: { clients: [1, 8], warmUpMs: 50, counted: 32 },
};
type Amounts = (typeof amounts)['full'];

const BASELINE = 'pgbench';
/**
 * Through the gateway, by the number of clients: few share less. Creations at payments have no aim: they come one by one, because the
 * gateway makes the batches.
 */
const GATEWAY_TO_PGBENCH = new Map([
  [8, 0.3],
  [32, 0.5],
]);
/** Of one client alone, from the request to the whole answer. */
const LONE_CREATION_MS = 12;
/** A creation from a pool costs at most 1.2 of one on a wallet. */
const POOL_TO_WALLET = 1 / 1.2;

type Comparison = { clients: number; rounds: Round[] };
type Writes = { creations: number; payments: Written; pgbench: Written };

/** Requests go straight to the processes. Everything behind them works as in production: relay, broker, consumers. */
export const creation: Part = {
  name: 'creation',
  on: 'stack',
  short: {},
  about: 'creations through api-gateway and at payments, compared with pgbench that runs the same writes',
  async run(context) {
    const { rounds, runMs, say, scale, attempt } = context;
    const { clients: clientCounts, warmUpMs } = amounts[scale];
    const creators = await startCreators(context, await findPgbench());
    const writes = await attempt('comparing writes', () => compareWrites(creators, amounts[scale]));

    const contenders = (clients: number, durationMs: number) =>
      creators.all.map(({ name, create }) => ({ name, measure: () => create({ clients, durationMs }) }));
    say(`  warming up, then ${rounds} rounds for each number of clients …`);
    await interleave(contenders(Math.max(...clientCounts), warmUpMs), 1);
    await analyzeAll(creators);
    const comparisons: Comparison[] = [];
    for (const clients of clientCounts) {
      const measured = await attempt(clientsOf(clients), () =>
        compare(context, contenders(clients, runMs), [BASELINE, 'gateway']),
      );
      if (measured !== undefined) comparisons.push({ clients, rounds: measured });
    }
    const statements = (await attempt('counting statements', () => countAll(creators, amounts[scale]))) ?? [];
    return {
      tables: [
        ...comparisons.flatMap(tablesOf),
        ...(writes === undefined ? [] : [writesTable(writes)]),
        ...statements.map(statementTable),
      ],
      notes,
      aims: comparisons.flatMap(aimsOf),
      measurements: { comparisons, writes, statements },
    };
  },
};

/** @throws Error when pgbench does not write what payments writes: their ratio would say nothing. */
async function compareWrites({ payments, pgbench }: Creators, { clients, counted }: Amounts): Promise<Writes> {
  const count = (creator: Creator): Promise<Written> =>
    countWritten(creator.adminUrl, async () => {
      const { units } = await creator.create({ clients: Math.max(...clients), creations: counted });
      return units;
    });
  const writes = { payments: await count(payments), pgbench: await count(pgbench) };
  requireSameWrites(counted, writes.payments, writes.pgbench);
  return { creations: counted, ...writes };
}

async function countAll(
  { gateway, pgbench }: Creators,
  { clients: clientCounts, counted: creations }: Amounts,
): Promise<CountedStatements[]> {
  const clients = Math.max(...clientCounts);
  const statements: CountedStatements[] = [];
  for (const { name, adminUrl, create } of [gateway, pgbench]) {
    const costs = await countStatements(adminUrl, () => create({ clients, creations }));
    statements.push({ title: `${name}: SQL for one creation, ${clients} clients`, units: creations, costs });
  }
  return statements;
}

function aimsOf({ clients, rounds }: Comparison): Aim[] {
  const toPgbench = GATEWAY_TO_PGBENCH.get(clients);
  return [
    ...(toPgbench === undefined ? [] : [rateAim({ clients, rounds }, toPgbench)]),
    ...(clients === 1 ? [loneAim(rounds)] : []),
    {
      what: `from a pool, ${clientsOf(clients)}: creations/s to those on a wallet`,
      atLeast: POOL_TO_WALLET,
      ...comparedTo(rounds, rateOf, 'from a pool', 'gateway'),
    },
  ];
}

const rateAim = ({ clients, rounds }: Comparison, atLeast: number): Aim => ({
  what: `gateway, ${clientsOf(clients)}: creations/s to pgbench`,
  atLeast,
  ...comparedTo(rounds, rateOf, 'gateway', BASELINE),
});

const loneAim = (rounds: Round[]): Aim => ({
  what: 'gateway, 1 client: median ms of a creation',
  atMost: LONE_CREATION_MS,
  measured: spreadOf(rounds.map((round) => measurementOf(round, 'gateway').p50Ms)),
});

const clientsOf = (clients: number): string => (clients === 1 ? '1 client' : `${clients} clients`);

const notes = [
  'pgbench (-M prepared) sends six statements a creation and awaits each: begin; the reply looked up and the gate locked; clock, reply,',
  "wallet and slot read; payment, wallet, counters and reply written; the outbox row written; commit. Its database has payments' own",
  'migrations, on the same server with the same settings: every commit waits for the disk.',
  'Ratios are medians of the rounds (least–greatest). CPU time is counted until the last message of a run has taken effect: the relay,',
  'the broker, chain-watcher and quota with their share of PostgreSQL work while the next creations arrive.',
  '"other" is what PostgreSQL spends outside those sessions: forking, the log writer, checkpoints, vacuum.',
];

const PROCESSES = ['api-gateway', 'payments', 'postgres', 'broker', 'chain-watcher', 'quota', 'webhook-dispatcher'];

const tablesOf = ({ clients, rounds }: Comparison): Table[] => [
  rateTable({
    ...{ title: `Creations, ${clientsOf(clients)}`, rounds, units: 'creations', baselines: [BASELINE] },
    figures: { ...latencyFigures, ...walFigure },
  }),
  cpuTable(`CPU µs of each process for one creation, ${clientsOf(clients)}`, rounds, [...PROCESSES, 'load']),
  sessionTable(clients, rounds),
];

const SESSIONS = ['gateway', 'payments', 'chain', 'quota'];

/** pgbench's sessions end with its run, so PostgreSQL's share has no parts there. */
function sessionTable(clients: number, rounds: Round[]): Table {
  return {
    title: `CPU µs of PostgreSQL by the service of the session, ${clientsOf(clients)}`,
    columns: ['', ...SESSIONS, 'other', 'all'],
    rows: namesOf(rounds)
      .filter((name) => name !== BASELINE)
      .map((name) => {
        const all = cpuUsPerUnit(rounds, name, 'postgres');
        const spent = SESSIONS.map((session) => cpuUsPerUnit(rounds, name, `postgres: ${session}`));
        const other = all === null ? null : spent.reduce((left: number, us) => left - (us ?? 0), all);
        return [name, ...[...spent, other, all].map(significant)];
      }),
  };
}

function writesTable({ creations, payments, pgbench }: Writes): Table {
  const kinds = ['inserted', 'updated', 'deleted'] as const;
  const perCreation = (count: number | undefined): string => String(Number(((count ?? 0) / creations).toFixed(3)));
  const rows = Object.keys({ ...payments, ...pgbench }).map((table) => [
    table,
    ...[payments, pgbench].flatMap((written) => kinds.map((kind) => perCreation(written[table]?.[kind]))),
  ]);
  return {
    title: "Rows for one creation in payments' schema",
    columns: ['', ...['payments', 'pgbench'].flatMap((name) => kinds.map((kind) => `${name} ${kind}`))],
    rows: rows.filter(([, ...counts]) => counts.some((count) => count !== '0')),
  };
}
