import { withDatabase } from '../../support/database.ts';
import { type ServiceDatabase, serviceDatabase } from '../../support/service-database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Broker } from '@quittance/messaging/broker/broker.ts';
import type { LoneService } from '../../support/lone-service.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import { startBackends, type Backends } from './backends.ts';
import { cpuUsOf, cpuUsOfFamily } from './cpu.ts';
import { fillDatabase } from './filled-database.ts';
import { withCpu, type CpuCounters } from './measure.ts';
import { addPayable, countOutbox, countUnpaid } from './payable-payments.ts';
import { startPaymentsProcess } from './payments-process.ts';
import { measurePgbench } from './pgbench.ts';
import { postmasterOf } from './postgres.ts';
import type { Measurement } from './rounds.ts';
import { inSets, oneByOne, SET_SIZE } from './settlement-script.ts';
import { connectPublisher, publishTransfers, transferFor } from './transfers.ts';

/** Something that settles transfers, each of which pays a payment. */
type Settler = {
  name: string;
  /** The superuser's address of its database. */
  adminUrl: string;
  /** Settles this many transfers, which wait already. A unit of work is a transfer. */
  settle(count: number): Promise<Measurement>;
};

export type Settlers = {
  replicas: Settler & {
    processes: readonly LoneService[];
    /** Settles transfers while `measure` runs. @returns when all are settled and their messages sent. */
    nextTo<T>(count: number, measure: () => Promise<T>): Promise<T>;
  };
  all: Settler[];
};

const REPLICAS = 2;
/** Clients of pgbench: enough to keep two cores and the disk busy. */
const CLIENTS = { single: 16, sets: REPLICAS };

/** Two processes of payments on one database, and pgbench on another of the same size. */
export async function startSettlers(context: BenchmarkContext, pgbench: string, size: number): Promise<Settlers> {
  const backends = await startBackends('settlement', context);
  const postmaster = await postmasterOf(backends.adminUrl);
  const counters: CpuCounters = { postgres: () => cpuUsOfFamily(postmaster) };
  const databases: ServiceDatabase[] = [];
  for (const name of ['settlement', 'settlement_pgbench']) {
    const options = { service: 'payments', adminUrl: backends.adminUrl, database: name } as const;
    const database = await serviceDatabase({ ...options, password: 'only for a benchmark' });
    await fillDatabase(database.adminUrl, size);
    databases.push(database);
  }
  const [ours, theirs] = databases as [ServiceDatabase, ServiceDatabase];
  const replicas = await startReplicas(context, backends, ours, counters);
  const baseline = (name: string, script: string, clients: number, transfers: number): Settler =>
    pgbenchSettler({ name, program: pgbench, script, clients, transfers, database: theirs, counters });
  return {
    replicas,
    all: [
      replicas,
      baseline('pgbench', oneByOne, CLIENTS.single, 1),
      baseline(`pgbench, sets of ${SET_SIZE}`, inSets, CLIENTS.sets, SET_SIZE),
    ],
  };
}

/** Numbers of payments that were not used before. */
let nextPayment = 1;
function takeNumbers(count: number): number {
  nextPayment += count;
  return nextPayment - count;
}

async function startReplicas(
  { onEnd }: BenchmarkContext,
  { directory, broker }: Backends,
  { adminUrl, url: databaseUrl }: ServiceDatabase,
  counters: CpuCounters,
): Promise<Settlers['replicas']> {
  const amqpUrl = await broker.addVirtualHost('settlement');
  const processes: LoneService[] = [];
  for (let replica = 1; replica <= REPLICAS; replica += 1) {
    const process = await startPaymentsProcess({ name: `settlement-${replica}`, directory, databaseUrl, amqpUrl });
    onEnd(() => process.stop());
    processes.push(process);
  }
  const publisher = await connectPublisher(amqpUrl);
  onEnd(() => publisher.close());
  const all = {
    ...counters,
    payments: () => sum(processes.map(({ pid }) => cpuUsOf(pid))),
    broker: () => cpuUsOf(broker.pid ?? 0),
  };
  const settling = async <T>(count: number, run: (until: UntilSettled) => Promise<T>): Promise<T> => {
    const first = takeNumbers(count);
    await fillQueue({ adminUrl, publisher, processes }, first, count);
    return run(() => untilSettled(adminUrl, first, count));
  };
  return {
    ...{ name: `payments ×${REPLICAS}`, adminUrl, processes },
    settle: (count) =>
      settling(count, async (until) => {
        let seconds = Number.NaN;
        const { cpuUs } = await withCpu(all, async () => {
          const startedAt = performance.now();
          resume(processes);
          await until();
          seconds = (performance.now() - startedAt) / 1000;
          await untilSent(adminUrl);
        });
        return { rate: count / seconds, units: count, p50Ms: Number.NaN, p99Ms: Number.NaN, cpuUs };
      }),
    nextTo: (count, measure) =>
      settling(count, async (until) => {
        resume(processes);
        const measured = await measure();
        await until();
        await untilSent(adminUrl);
        return measured;
      }),
  };
}

type UntilSettled = () => Promise<void>;

const sum = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>((total, value) => (total === null || value === null ? null : total + value), 0);

/** Publishes the transfers of new payments while the replicas are stopped, so that all of them wait when the clock starts. */
async function fillQueue(
  { adminUrl, publisher, processes }: { adminUrl: string; publisher: Broker; processes: readonly LoneService[] },
  first: number,
  count: number,
): Promise<void> {
  const payments = await addPayable(adminUrl, first, count);
  for (const { pid } of processes) process.kill(pid, 'SIGSTOP');
  try {
    const observed = { phase: 'confirmed', version: 1, confirmations: 2 } as const;
    await publishTransfers(
      publisher,
      payments.map((payment) => ({ ...transferFor(payment), ...observed })),
    );
  } catch (error) {
    resume(processes);
    throw error;
  }
}

const resume = (processes: readonly LoneService[]): void =>
  processes.forEach(({ pid }) => process.kill(pid, 'SIGCONT'));

const PATIENCE = { timeoutMs: 600_000, intervalMs: 20 };

const untilSettled = (adminUrl: string, first: number, count: number): Promise<void> =>
  withDatabase(adminUrl, (db) =>
    eventually(async () => {
      const unpaid = await countUnpaid(db, first, count);
      if (unpaid > 0) throw new Error(`${unpaid} of ${count} payments are not PAID`);
    }, PATIENCE),
  );

const untilSent = (adminUrl: string): Promise<void> =>
  withDatabase(adminUrl, (db) =>
    eventually(async () => {
      const waiting = await countOutbox(db);
      if (waiting > 0) throw new Error(`${waiting} messages wait in the outbox`);
    }, PATIENCE),
  );

function pgbenchSettler(options: {
  name: string;
  program: string;
  script: string;
  clients: number;
  /** In one transaction. */
  transfers: number;
  database: ServiceDatabase;
  counters: CpuCounters;
}): Settler {
  const { name, program, script, clients, transfers, database, counters } = options;
  const { adminUrl, url } = database;
  return {
    ...{ name, adminUrl },
    async settle(count) {
      const transactions = Math.ceil(count / transfers / clients);
      const whole = transactions * transfers * clients;
      const first = takeNumbers(whole);
      await addPayable(adminUrl, first, whole);
      const run = {
        program,
        url,
        adminUrl,
        script,
        clients,
        variables: { i: -1, clients, first },
        limit: { transactions },
      };
      const measured = await measurePgbench(run, counters);
      await withDatabase(adminUrl, (db) => db.query('truncate payments.outbox'));
      return { ...measured, rate: measured.rate * transfers, units: measured.units * transfers };
    },
  };
}
