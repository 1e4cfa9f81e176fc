import type { Aim, BenchmarkContext, Part } from '../benchmark.ts';
import { measureLoad } from '../support/measure.ts';
import { findPgbench } from '../support/pgbench.ts';
import { requestsAtPayments } from '../support/creators.ts';
import { interleave, measurementOf, spreadOf, type Round } from '../support/rounds.ts';
import { compare, comparedTo } from '../support/sound-baselines.ts';
import { startSettlers, type Settlers } from '../support/settlers.ts';
import { countStatements } from '../support/statements.ts';
import { latencyFigures, rateOf, rateTable, statementTable } from '../support/tables.ts';
import { withDatabase } from '../../support/database.ts';
import { INTERNAL_TOKEN } from '../../support/lone-service.ts';

/** `size`: payments in each database at the start. `backlog`: transfers that wait when creations are measured, for each second of it. */
const amounts = {
  full: { size: 20_000, transfers: 3_000, warmUp: 3_000, backlog: 3_000, connections: 4 },
  smoke: { size: 500, transfers: 100, warmUp: 100, backlog: 1_000, connections: 2 },
};

const OURS = 'payments ×2';
const BASELINE = 'pgbench';
const RATE_AIM = 3_000;
/** A creation may wait for its share of the processors, but not for the backlog. */
const P99_AIM = 3;
const ALONE = 'alone';
const NEXT_TO_A_BACKLOG = 'next to a backlog';

/** Straight to payments' processes. Their relays work; no service consumes the messages. */
export const settlement: Part = {
  name: 'settlement',
  on: 'backends',
  short: {},
  about:
    'transfers settled by two replicas of payments, compared with pgbench that runs the same writes; creations next to a backlog of ' +
    'transfers, compared with creations alone',
  async run(context) {
    const { rounds, say, scale, attempt } = context;
    const { size, transfers, warmUp } = amounts[scale];
    const settlers = await startSettlers(context, await findPgbench(), size);
    say(`  warming up, then ${rounds} rounds …`);
    const contenders = (count: number) =>
      settlers.all.map(({ name, settle }) => ({ name, measure: () => settle(count) }));
    await interleave(contenders(warmUp), 1);
    const settled = (await attempt('settling', () => compare(context, contenders(transfers), [BASELINE]))) ?? [];
    const creations = (await attempt('creating next to a backlog', () => createNextTo(context, settlers))) ?? [];
    const { replicas } = settlers;
    const costs =
      (await attempt('counting statements', () =>
        countStatements(replicas.adminUrl, () => replicas.settle(transfers)),
      )) ?? [];
    return {
      tables: [
        rateTable({
          ...{ title: 'Transfers that pay a payment each', rounds: settled, units: 'transfers', baselines: [BASELINE] },
          processes: ['payments', 'postgres', 'broker'],
        }),
        rateTable({
          ...{ title: 'Creations at one replica', rounds: creations, units: 'creations', baselines: [ALONE] },
          figures: latencyFigures,
        }),
        statementTable({ title: 'SQL for one transfer', units: transfers, costs }),
      ],
      notes: [
        'All transfers wait in the queue when the clock starts; it stops when every payment is PAID. CPU time is counted until the outbox is',
        'empty. pgbench (-M prepared) settles the same: inbox row, payment locked, transfer written, payment PAID, two messages, commit; 16',
        'clients with a transaction for each transfer, or 2 with sets of 200. Every commit waits for the disk. Ratios are medians of the',
        'rounds (least–greatest).',
      ],
      aims: [
        ...(settled.length === 0 ? [] : settledAims(settled)),
        ...(creations.length === 0 ? [] : [p99Aim(creations)]),
      ],
      measurements: { rounds: settled, creations, statements: { transfers, costs } },
    };
  },
};

const settledAims = (rounds: Round[]): Aim[] => [
  {
    what: `${OURS}: transfers settled a second`,
    atLeast: RATE_AIM,
    measured: spreadOf(rounds.map((round) => rateOf(measurementOf(round, OURS)))),
  },
  { what: `${OURS}: transfers/s to pgbench`, atLeast: 1, ...comparedTo(rounds, rateOf, OURS, BASELINE) },
];

const p99Aim = (creations: Round[]): Aim => ({
  what: 'p99 of creations next to a backlog, to alone',
  atMost: P99_AIM,
  ...comparedTo(creations, ({ p99Ms }) => p99Ms, NEXT_TO_A_BACKLOG, ALONE),
});

async function createNextTo(context: BenchmarkContext, { replicas }: Settlers): Promise<Round[]> {
  const { load, runMs, scale } = context;
  const { backlog, connections } = amounts[scale];
  const { rows: merchants } = await withDatabase(replicas.adminUrl, (db) =>
    db.query<{ merchantId: string; wallet: string }>(
      'select merchant_id as "merchantId", address as wallet from payments.wallet order by random() limit 4000',
    ),
  );
  const [replica] = replicas.processes;
  if (replica === undefined) throw new Error('there is no replica to create at');
  const name = 'creation next to settlement';
  const requests = requestsAtPayments(merchants, { 'x-internal-token': INTERNAL_TOKEN });
  await load.prepare({ name, origin: replica.origin, status: 201, requests });
  const create = () => measureLoad(load, name, { connections, durationMs: runMs }, {});
  return compare(
    context,
    [
      { name: ALONE, measure: create },
      { name: NEXT_TO_A_BACKLOG, measure: () => replicas.nextTo(Math.ceil((backlog * runMs) / 1000), create) },
    ],
    [ALONE],
  );
}
