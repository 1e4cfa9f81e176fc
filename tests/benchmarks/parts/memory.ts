import { journeyStack, type JourneyStack } from '../../support/journey-stack.ts';
import type { Aim, BenchmarkContext, Part, Table } from '../benchmark.ts';
import { seedMerchants } from '../support/creating-merchants.ts';
import { requestsAtGateway } from '../support/creators.ts';
import { databaseClock, waitUntilHandled } from '../support/drained.ts';
import { significant } from '../support/report.ts';
import { residentMegabytes } from '../support/resident.ts';
import { spreadOf } from '../support/rounds.ts';
import { benchmarkStack } from '../support/stack.ts';

/** Payments that are created before memory is read again. */
const amounts = { full: { payments: 100_000 }, smoke: { payments: 64 } };
const CLIENTS = 32;

const aimsOf = (process: string) =>
  process === 'single'
    ? { atRest: 200, afterUse: 200, startSeconds: null }
    : { atRest: 90, afterUse: 120, startSeconds: 1 };

type Reading = { process: string; atRest: number; afterUse: number; startSeconds: number[] };

/** A stack with a process for each service, and one with all services in one process. */
export const memory: Part = {
  name: 'memory',
  on: 'stack',
  short: { payments: 10_000 },
  about: 'resident memory at rest and after payments, and start to ready, of each service and of all in one process',
  parts: ['services', 'single'],
  async run(context) {
    const { wants, scale, attempt } = context;
    const payments = context.payments ?? amounts[scale].payments;
    const readings: Reading[] = [];
    if (wants('services')) {
      readings.push(
        ...((await attempt('services', async () => read(context, await benchmarkStack(context), payments))) ?? []),
      );
    }
    // Not in a smoke run, because a journey already runs this stack.
    if (wants('single') && scale === 'full') {
      readings.push(...((await attempt('single', () => readSingle(context, payments))) ?? []));
    }
    return {
      tables: [tableOf(readings, payments)],
      notes: [
        'MB are resident, including the pages of the Node program that processes on one machine share, about 50 MB each.',
        'After use: when every message of these payments has taken effect.',
      ],
      aims: readings.flatMap((reading) => aimed(reading, payments)),
      measurements: readings,
    };
  },
};

/** Stops a process and starts it again. @returns seconds from its start until it is ready. */
async function secondsToReady(service: JourneyStack['services'][number]): Promise<number> {
  await service.stop();
  const startedAt = performance.now();
  await service.start();
  return (performance.now() - startedAt) / 1_000;
}

async function readSingle(context: BenchmarkContext, payments: number): Promise<Reading[]> {
  const stack = await journeyStack({ single: true });
  try {
    return await read(context, stack, payments);
  } finally {
    await stack.close();
  }
}

async function read(
  { say, load, rounds }: BenchmarkContext,
  stack: JourneyStack,
  payments: number,
): Promise<Reading[]> {
  say(`  starting ${stack.services.map(({ name }) => name).join(', ')} ${rounds} times each …`);
  const readings: Reading[] = [];
  for (const service of stack.services) {
    const startSeconds: number[] = [];
    for (let start = 0; start < rounds; start += 1) startSeconds.push(await secondsToReady(service));
    readings.push({ process: service.name, atRest: await residentMegabytes(service.pid), afterUse: 0, startSeconds });
  }
  say(`  creating ${payments} payments …`);
  const { postgres_url: postgresUrl, gateway_url: origin } = stack.file;
  const merchants = await seedMerchants(postgresUrl, true);
  const name = `memory at ${origin}`;
  await load.prepare({ name, origin, requests: requestsAtGateway(merchants), status: 201 });
  const since = await databaseClock(postgresUrl);
  const how = { connections: CLIENTS, durationMs: 3_600_000, requests: payments };
  const { answered } = await load.run(name, how);
  await waitUntilHandled(postgresUrl, since, answered);
  for (const reading of readings) {
    const { pid } = stack.services.find((service) => service.name === reading.process) ?? { pid: 0 };
    reading.afterUse = await residentMegabytes(pid);
  }
  return readings;
}

function aimed({ process, atRest, afterUse, startSeconds }: Reading, payments: number): Aim[] {
  const aims = aimsOf(process);
  return [
    { what: `${process}: MB at rest`, measured: spreadOf([atRest]), atMost: aims.atRest },
    {
      what: `${process}: MB after ${payments.toLocaleString('en-US')} payments`,
      measured: spreadOf([afterUse]),
      atMost: aims.afterUse,
    },
    ...(aims.startSeconds === null
      ? []
      : [
          {
            what: `${process}: seconds from start to ready`,
            measured: spreadOf(startSeconds),
            atMost: aims.startSeconds,
          },
        ]),
  ];
}

const tableOf = (readings: readonly Reading[], payments: number): Table => ({
  title: 'Memory in MB, and start to ready in seconds',
  columns: ['process', 'at rest', `after ${payments.toLocaleString('en-US')} payments`, 'start', 'least', 'most'],
  rows: readings.map(({ process, atRest, afterUse, startSeconds }) => {
    const { median, min, max } = spreadOf(startSeconds);
    return [process, ...[atRest, afterUse, median, min, max].map(significant)];
  }),
});
