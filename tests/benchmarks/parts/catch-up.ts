import type { Aim, BenchmarkContext, Part, Table } from '../benchmark.ts';
import { startBackends, type Backends } from '../support/backends.ts';
import { measureCatchUp, type CatchUp } from '../support/catch-up.ts';
import { catchUpPlans, PAID_EVERY, type CatchUpPlan } from '../support/catch-up-plans.ts';
import { callKinds } from '../support/provider-counts.ts';
import { significant } from '../support/report.ts';
import { spreadOf } from '../support/rounds.ts';

/** Blocks of the chain while nobody read it. */
const behind = {
  full: { tron: [1_000, 10_000], ethereum: [1_000, 7_200] },
  smoke: { tron: [150], ethereum: [150] },
} satisfies Record<BenchmarkContext['scale'], Record<CatchUpPlan['id'], number[]>>;

/** The only figure that a payment plugin publishes: it reads 1,000 blocks of Tron in five minutes. */
const PUBLISHED = { id: 'tron', behind: 1_000, minutes: 5 };

export const catchingUp: Part = {
  name: 'catching-up',
  on: 'backends',
  about: 'minutes and calls until all orders that were paid while chain-watcher was down are confirmed',
  parts: catchUpPlans.map(({ id }) => id),
  async run(context) {
    const { scale, wants, attempt, say } = context;
    const backends: Backends = await startBackends('catch-up', context);
    const measured: CatchUp[] = [];
    for (const plan of catchUpPlans.filter(({ id }) => wants(id)))
      for (const blocks of behind[scale][plan.id]) {
        const what = `${plan.id}, ${blocks.toLocaleString('en-US')} blocks`;
        say(`  ${what} …`);
        const one = await attempt(what, () => measureCatchUp(plan, blocks, backends));
        if (one !== undefined) measured.push(one);
      }
    return {
      tables: [timeTable(measured), callTable(measured)],
      notes: notes(),
      aims: aimsOf(measured),
      measurements: measured,
    };
  },
};

const titleOf = ({ plan, behind: blocks }: CatchUp): string => `${plan.id}, ${blocks.toLocaleString('en-US')} blocks`;

const timeTable = (measured: readonly CatchUp[]): Table => ({
  title: 'Until the last order is confirmed',
  columns: [
    ...['', 'orders', 'minutes', 'first order, s', 'calls', 'a second', 'most in a second', 'most units in 10 s'],
    ...['CPU s', 'CPU s of the node'],
  ],
  rows: measured.map((one) => [
    titleOf(one),
    String(one.orders),
    significant(one.seconds / 60),
    significant(one.firstSeconds),
    significant(one.calls),
    significant(one.calls / one.seconds),
    significant(one.mostInASecond),
    significant(one.plan.units === null ? null : one.mostUnitsInTenSeconds),
    significant(one.cpuSeconds),
    significant(one.nodeCpuSeconds),
  ]),
});

function callTable(measured: readonly CatchUp[]): Table {
  const kinds = callKinds.filter((kind) => measured.some(({ byKind }) => byKind[kind] !== undefined));
  return {
    title: 'Calls by kind',
    columns: ['', ...kinds],
    rows: measured.map((one) => [titleOf(one), ...kinds.map((kind) => significant(one.byKind[kind] ?? 0))]),
  };
}

const notes = (): string[] => [
  'chain-watcher reads up to the newest block and is stopped. The chain grows, orders are created, and every tenth block pays one. Then',
  'chain-watcher starts; the messages of the orders wait in RabbitMQ. Time and calls count from its start until the confirmation of the last',
  'order is in RabbitMQ. The chain goes on by the clock, and an answer takes 40 ms.',
  ...catchUpPlans.map(
    ({ id, provider, requestsPerSecond, maxBlockRange, units }) =>
      `${id}: one endpoint with the free plan of ${provider}, ${requestsPerSecond} calls a second` +
      (units === null ? '' : ` (${units.inTenSeconds.toLocaleString('en-US')} units in ten seconds)`) +
      `, ${maxBlockRange} blocks in a range; one block in ${PAID_EVERY} pays.`,
  ),
];

function aimsOf(measured: readonly CatchUp[]): Aim[] {
  return measured
    .filter((one) => one.plan.id === PUBLISHED.id && one.behind === PUBLISHED.behind)
    .map((one) => ({
      what: `${titleOf(one)}: minutes until the last order is confirmed`,
      atMost: PUBLISHED.minutes,
      measured: spreadOf([one.seconds / 60]),
    }));
}
