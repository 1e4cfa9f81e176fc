import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { startTraffic, type Answered, type Traffic } from '../../faults/rolling/traffic.ts';
import { withDatabase } from '../../support/database.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import type { BenchmarkContext, Part } from '../benchmark.ts';
import { enduranceAims, enduranceNotes, enduranceTables, latenciesBySample } from './endurance-tables.ts';
import { cpuUsOfDescendants } from '../support/cpu.ts';
import { databaseClock, waitUntilHandled } from '../support/drained.ts';
import { failedOf, recover, type Recovery } from '../support/endurance-recovery.ts';
import { takeSamples, type Sample } from '../support/endurance-samples.ts';
import { benchmarkStack } from '../support/stack.ts';

/**
 * `samples`: the least; otherwise one a minute. A multiple of four, so that each quarter of the run ends with one. `killed`: null for
 * every service.
 */
const amounts = { full: { samples: 24, killed: null }, smoke: { samples: 4, killed: 'payments' } };

/** Durations of the warm-up and of the measurement that chooses the number of shops. */
const WARM_UP_MS = 10_000;
const MEASURED_MS = 20_000;
/** The share of the machine that the run uses. */
const SHARE = 0.5;
/** Enough to see what one shop takes; and the most that can be paid in time, with sixty payments in a block each second. */
const FEW_SHOPS = 10;
const MOST_SHOPS = 100;
const SMOKE_SHOPS = 2;

/** When something ended in the run, and how long it took; milliseconds. */
export type Timed = { atMs: number; ms: number };

export type Steady = {
  shops: number;
  durationMs: number;
  samples: Sample[];
  creations: Timed[];
  /** From PAID until the event is stored as delivered. */
  events: Timed[];
  /** Requests with a wrong answer. */
  failed: number;
};
export type EnduranceMeasurements = {
  steady: Steady;
  recoveries: Recovery[];
};

export const endurance: Part = {
  name: 'endurance',
  on: 'stack',
  about:
    'memory, open files, tables, queues and latencies under steady traffic that uses half of the machine, compared with the first ' +
    'quarter; how soon each service works again after kill -9',
  minutes: 60,
  async run(context) {
    const { say, scale, attempt } = context;
    say('  starting a stack …');
    const stack = await benchmarkStack(context);
    const { postgres_url: postgresUrl } = stack.file;
    const since = await databaseClock(postgresUrl);
    const shops = scale === 'smoke' ? SMOKE_SHOPS : await shopsForHalf(stack, say);
    const running = await startShops(context, stack, shops);
    const steady = await endure(context, stack, { shops, running });
    const { killed } = amounts[scale];
    const services = stack.services.filter(({ name }) => killed === null || name === killed);
    const recoveries: Recovery[] = [];
    for (const service of services) {
      say(`  killing ${service.name} …`);
      await attempt(`recovery of ${service.name}`, async () => {
        recoveries.push(await recover(stack, service, running));
      });
    }
    await running.traffic.stop();
    // Messages in transit belong to this run, not to the next measurement.
    await attempt('handling of what was created', async () =>
      waitUntilHandled(postgresUrl, since, await countCreated(postgresUrl, since)),
    );
    const measured: EnduranceMeasurements = { steady, recoveries };
    return {
      tables: enduranceTables(measured),
      notes: enduranceNotes(measured),
      aims: enduranceAims(measured),
      measurements: forFile(measured),
    };
  },
};

type Running = { traffic: Traffic; creations: Answered[] };

async function startShops({ onEnd }: BenchmarkContext, stack: JourneyStack, shops: number): Promise<Running> {
  const creations: Answered[] = [];
  const traffic = await startTraffic(stack, {
    ...{ shops, looks: shops / FEW_SHOPS, paysTogether: true },
    onAnswer: (kind, answered) => {
      if (kind === 'creation') creations.push(answered);
    },
  });
  onEnd(() => traffic.stop());
  return { traffic, creations };
}

async function endure(
  { minutes, scale, say, attempt }: BenchmarkContext,
  stack: JourneyStack,
  { shops, running: { traffic, creations } }: { shops: number; running: Running },
): Promise<Steady> {
  const durationMs = minutes * 60_000;
  const count = scale === 'smoke' ? amounts.smoke.samples : 4 * Math.ceil(Math.max(amounts.full.samples, minutes) / 4);
  say(`  ${shops} shops for ${minutes} minutes, a sample every ${Math.round(durationMs / count / 1_000)} s …`);
  const [startedAt, started] = [performance.now(), await databaseClock(stack.file.postgres_url)];
  const [answeredBefore, createdBefore, failedBefore] = [creations.length, traffic.created.length, failedOf(traffic)];
  const samples = await takeSamples(stack, {
    ...{ count, everyMs: durationMs / count },
    payments: () => traffic.created.length - createdBefore,
  });
  const failed = failedOf(traffic) - failedBefore;
  for (const { line } of [...traffic.failures, ...traffic.late].slice(0, 5)) say(`    ${line}`);
  await attempt('processes that last', () => requireSame(samples));
  return {
    ...{ shops, durationMs, samples, failed },
    creations: creations.slice(answeredBefore).map(({ startedAt: at, ms }) => ({ atMs: at + ms - startedAt, ms })),
    events: await eventsSince(stack.file.postgres_url, started),
  };
}

/** @throws Error when a service was replaced: the memory of two processes has no trend. */
async function requireSame(samples: readonly Sample[]): Promise<void> {
  for (const [name, { pid }] of Object.entries(samples[0]?.processes ?? {})) {
    if (samples.some(({ processes }) => processes[name]?.pid !== pid)) throw new Error(`${name} was started again`);
  }
}

/** The number of shops that use half of the processor time, calculated from what a few of them take. */
async function shopsForHalf(stack: JourneyStack, say: BenchmarkContext['say']): Promise<number> {
  const traffic = await startTraffic(stack, { shops: FEW_SHOPS, paysTogether: true });
  try {
    await delay(WARM_UP_MS);
    const [startedAt, before] = [performance.now(), cpuUsOfDescendants()];
    await delay(MEASURED_MS);
    const after = cpuUsOfDescendants();
    if (before === null || after === null) return FEW_SHOPS;
    const cores = availableParallelism();
    const used = (after - before) / 1_000 / (performance.now() - startedAt);
    say(`  ${FEW_SHOPS} shops with all that serves them take ${used.toFixed(2)} of ${cores} cores`);
    return Math.min(MOST_SHOPS, Math.max(1, Math.floor((FEW_SHOPS * SHARE * cores) / used)));
  } finally {
    await traffic.stop();
  }
}

const eventsSince = (postgresUrl: string, since: Date): Promise<Timed[]> =>
  withDatabase(postgresUrl, async (db) => {
    const { rows } = await db.query<Timed>(
      `select extract(epoch from d.delivered_at - $1)::float8 * 1000 as "atMs",
              extract(epoch from d.delivered_at - p.paid_at)::float8 * 1000 as ms
         from payments.payment p join webhooks.event e using (payment_id) join webhooks.delivery d using (event_id)
        where d.delivered_at >= $1`,
      [since],
    );
    return rows;
  });

/** Includes payments whose answer was lost with the process that gave it. */
const countCreated = (postgresUrl: string, since: Date): Promise<number> =>
  withDatabase(postgresUrl, async (db) => {
    const { rows } = await db.query<{ count: number }>(
      'select count(*)::int as count from payments.payment where created_at >= $1',
      [since],
    );
    return rows[0]?.count ?? 0;
  });

/** With latencies instead of the tens of thousands of creations and events. */
function forFile({ steady, recoveries }: EnduranceMeasurements): unknown {
  const { shops, durationMs, failed } = steady;
  return { shops, durationMs, failed, samples: latenciesBySample(steady), recoveries };
}
