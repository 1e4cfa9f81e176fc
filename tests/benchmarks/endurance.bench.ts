import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { startTraffic, type Answered, type Traffic } from '../faults/rolling/traffic.ts';
import { withDatabase } from '../support/database.ts';
import type { JourneyStack } from '../support/journey-stack.ts';
import type { Benchmark, BenchmarkContext } from './benchmark.ts';
import { enduranceAims, enduranceNotes, enduranceTables, latenciesBySample } from './endurance-tables.ts';
import { cpuUsOfDescendants } from './support/cpu.ts';
import { databaseClock, waitUntilHandled } from './support/drained.ts';
import { failedOf, recover, type Recovery } from './support/endurance-recovery.ts';
import { takeSamples, type Sample } from './support/endurance-samples.ts';
import { benchmarkStack } from './support/stack.ts';
import { secondsToReady } from './support/starting.ts';

/** Samples: one a minute, but at least so many, a multiple of four; a quarter of the run ends with one. `killed`: null for every service. */
const amounts = { full: { samples: 24, killed: null }, smoke: { samples: 4, killed: 'payments' } };

/** Before the machine is measured, and while it is. */
const WARM_UP_MS = 10_000;
const MEASURED_MS = 20_000;
/** What of the machine the run is to use. */
const SHARE = 0.5;
/** Enough to see what one takes; and as many as can be paid for, sixty at a time, in a block each second. */
const FEW_SHOPS = 10;
const MOST_SHOPS = 100;
const SMOKE_SHOPS = 2;

/** Something that was waited for, by when it came in the run; milliseconds. */
export type Timed = { atMs: number; ms: number };

export type Steady = {
  shops: number;
  durationMs: number;
  samples: Sample[];
  creations: Timed[];
  /** From PAID until the event is on record as delivered. */
  events: Timed[];
  /** Requests that were not answered as they should be. */
  failed: number;
};
export type EnduranceMeasurements = {
  steady: Steady;
  recoveries: Recovery[];
  starts: { service: string; seconds: number }[];
};

export const benchmark: Benchmark = {
  name: 'endurance',
  on: 'stack',
  about:
    'whether memory, open files, tables, queues and latencies stay as they are under steady traffic at half of what the machine carries, ' +
    'and how soon each service is back after kill -9',
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
    // What is still on its way belongs to this run, and not to what is measured next.
    await attempt('handling of what was created', async () =>
      waitUntilHandled(postgresUrl, since, await countCreated(postgresUrl, since)),
    );
    const starts: EnduranceMeasurements['starts'] = [];
    for (const service of services) {
      await attempt(`start of ${service.name}`, async () => {
        starts.push({ service: service.name, seconds: await secondsToReady(service) });
      });
    }
    const measured: EnduranceMeasurements = { steady, recoveries, starts };
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

/** @throws Error when a service died: memory of two processes is no line. */
async function requireSame(samples: readonly Sample[]): Promise<void> {
  for (const [name, { pid }] of Object.entries(samples[0]?.processes ?? {})) {
    if (samples.some(({ processes }) => processes[name]?.pid !== pid)) throw new Error(`${name} was started again`);
  }
}

/** As many shops as take half of the processor time that there is, by what a few of them take, whatever else the machine does. */
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

/** Also those whose answer was lost with the process that gave it. */
const countCreated = (postgresUrl: string, since: Date): Promise<number> =>
  withDatabase(postgresUrl, async (db) => {
    const { rows } = await db.query<{ count: number }>(
      'select count(*)::int as count from payments.payment where created_at >= $1',
      [since],
    );
    return rows[0]?.count ?? 0;
  });

/** Latencies stand for the creations and events, of which there are tens of thousands. */
function forFile({ steady, recoveries, starts }: EnduranceMeasurements): unknown {
  const { shops, durationMs, failed } = steady;
  return { shops, durationMs, failed, samples: latenciesBySample(steady), recoveries, starts };
}
