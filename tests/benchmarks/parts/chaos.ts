import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchmarkContext, Part } from '../benchmark.ts';
import { startBackends, startBenchmarkRedis } from '../support/backends.ts';
import { cells, type Cell, type DisturbanceSizes } from '../support/chaos-cells.ts';
import type { Contender, Done, Surroundings, System } from '../support/chaos-contender.ts';
import { startLoad, type Load } from '../support/chaos-load.ts';
import { ourContenders } from '../support/chaos-ours.ts';
import { otherContenders } from '../support/chaos-queues.ts';
import { judge, type Observed, type Verdict } from '../support/chaos-verdict.ts';
import { machineMs } from '../support/machine-clock.ts';
import { makeMerchants } from '../support/webhook-merchants.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { chaosAims, chaosNotes, chaosTables } from './chaos-tables.ts';

/** `answerMs`: how long a receiver takes. At once, a killed worker would have had nothing in flight. */
const amounts = {
  full: {
    ...{ merchants: 20, answerMs: 50, aSecond: 200, warmUpMs: 5_000, beforeMs: 10_000, afterMs: 10_000 },
    ...{ kills: 5, killEveryMs: 2_000, databaseDownMs: 5_000, cutMs: 10_000, floodJobs: 10_000 },
  },
  smoke: {
    ...{ merchants: 5, answerMs: 5, aSecond: 50, warmUpMs: 500, beforeMs: 2_000, afterMs: 3_500 },
    ...{ kills: 1, killEveryMs: 500, databaseDownMs: 500, cutMs: 500, floodJobs: 200 },
  },
};
type Amounts = (typeof amounts)['full'];

export type ChaosMeasured = Verdict & { cell: string; contender: string; refused: number };

const contenders = [...ourContenders, ...otherContenders];
const LOOK_EVERY_MS = 500;
const SETTLED_WITHIN_MS = 3_000;

export const chaos: Part = {
  name: 'chaos',
  on: 'backends',
  about:
    'dispatcher, relay and inbox next to graphile-worker, pg-boss and BullMQ: jobs lost or done twice, and recovery',
  parts: [...cells.map(({ name }) => name), ...contenders.map(({ name }) => name)],
  minutes: 2,
  async run(context) {
    const { say, attempt, minutes, scale, onEnd } = context;
    const sizes = amounts[scale];
    say('  starting PostgreSQL, RabbitMQ and Redis …');
    const backends = await startBackends('chaos', context);
    const redis = await startBenchmarkRedis(backends.directory, context);
    const receiver = await startWebhookReceiver(backends.directory);
    onEnd(() => receiver.close());
    const merchants = makeMerchants(sizes.merchants);
    for (const { host } of merchants) await receiver.ask('answer', host, sizes.answerMs);
    const measured: ChaosMeasured[] = [];
    for (const { cell, contender } of pairsOf(context)) {
      if (contender.name === 'BullMQ' && redis === null) continue;
      const what = `${contender.name}, ${cell.name}`;
      const result = await attempt(what, async () => {
        await receiver.ask('forget');
        const name = `chaos_${contender.name}_${cell.name}`.replaceAll('-', '_').toLowerCase();
        const directory = join(backends.directory, name);
        await mkdir(directory, { recursive: true });
        return runCell(contender, cell, { backends, redis, receiver, merchants, name, directory }, { sizes, minutes });
      });
      if (result === undefined || result === null) continue;
      measured.push({ cell: cell.name, contender: contender.name, ...result });
      say(`  ${what}: ${result.passed ? 'passed' : 'not passed'}`);
    }
    return {
      tables: chaosTables(measured),
      notes: chaosNotes(sizes, minutes),
      aims: chaosAims(
        measured,
        ourContenders.map(({ name }) => name),
      ),
      measurements: { cells: measured, sizes, minutes },
    };
  },
};

/** A smoke run gives each contender one cell, so that every one of both runs. */
function pairsOf({ wants, scale }: BenchmarkContext): { cell: Cell; contender: Contender }[] {
  const pairs = cells.flatMap((cell, at) =>
    contenders.map((contender, position) => ({ cell, contender, isSample: position % cells.length === at })),
  );
  return pairs.filter(
    ({ cell, contender, isSample }) => wants(cell.name, contender.name) && (scale === 'full' || isSample),
  );
}

/** @returns null when the cell means nothing for this contender. */
async function runCell(
  contender: Contender,
  cell: Cell,
  surroundings: Omit<Surroundings, 'onEnd'>,
  { sizes, minutes }: { sizes: Amounts; minutes: number },
): Promise<(Verdict & { refused: number }) | null> {
  const closers: (() => Promise<void>)[] = [];
  try {
    const system = await contender.open({ ...surroundings, onEnd: (close) => void closers.unshift(close) });
    if (cell.fits?.(system) === false) return null;
    const load = startLoad(system.add, sizes.aSecond);
    closers.unshift(() => load.stop());
    await delay(sizes.warmUpMs);
    const steadyFrom = machineMs();
    const refusedBefore = load.refused();
    await delay(sizes.beforeMs);
    const disturbedFrom = machineMs();
    const disturbance: DisturbanceSizes = { ...sizes, snapshotMs: minutes * 60_000 };
    await cell.disturb(system, load, disturbance);
    const times = { steadyFrom, disturbedFrom, disturbedUntil: machineMs() };
    const observed = await watch(system, load, times, { afterMs: sizes.afterMs, patienceMs: minutes * 60_000 });
    return { ...judge(observed), refused: load.refused() - refusedBefore };
  } finally {
    for (const close of closers) await close();
  }
}

type Times = Pick<Observed, 'steadyFrom' | 'disturbedFrom' | 'disturbedUntil'>;

/**
 * The load goes on until the rate is back. Then it stops, and everything that was added is waited for. Both together take no longer than
 * the patience.
 */
async function watch(
  system: System,
  load: Load,
  times: Times,
  { afterMs, patienceMs }: { afterMs: number; patienceMs: number },
): Promise<Observed> {
  const deadline = times.disturbedUntil + Math.max(afterMs, patienceMs);
  let seen: Done = { first: new Map(), repeated: 0 };
  let isLoaded = true;
  let observedUntil = times.disturbedUntil;
  const observed = (left: number): Observed => ({
    ...{ ...times, accepted: load.accepted, done: seen.first, repeated: seen.repeated, left, observedUntil },
  });
  for (;;) {
    await delay(LOOK_EVERY_MS);
    seen = await system.done();
    const now = machineMs();
    if (isLoaded) observedUntil = now;
    const verdict = judge(observed(0));
    const isOver = now > deadline;
    if (isLoaded && (isOver || (now > times.disturbedUntil + afterMs && verdict.rateBackSeconds !== null))) {
      await load.stop();
      isLoaded = false;
    } else if (!isLoaded && (isOver || verdict.notDone === 0)) {
      const left = await settledLeft(system);
      // Read after the record: a job that is done in between is on record, and not lost.
      seen = await system.done();
      return observed(left);
    }
  }
}

/** Ends of jobs are recorded in batches, a little later. */
async function settledLeft(system: System): Promise<number> {
  const deadline = machineMs() + SETTLED_WITHIN_MS;
  for (;;) {
    const left = await system.left();
    if (left === 0 || machineMs() > deadline) return left;
    await delay(LOOK_EVERY_MS);
  }
}
