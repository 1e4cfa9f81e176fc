import pg from 'pg';
import type { Redis } from '@quittance/local-backends/redis.ts';
import { addressOf, createDatabase } from '@quittance/postgres/roles/service-databases.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import { cpuUsOf, cpuUsOfFamily } from './cpu.ts';
import { machineMs } from './machine-clock.ts';
import { withCpu, type CpuCounters } from './measure.ts';
import { postmasterOf, walPosition } from './postgres.ts';
import type { Contender, Measurement } from './rounds.ts';
import { insertEvents, release, type WebhookMerchant } from './webhook-merchants.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';
import { startForked } from './forked.ts';
import type { SenderKind, WebhookSender } from './webhook-sender-process.ts';

/** `handshakes`: TLS handshakes that the receiver saw meanwhile. */
export type RateMeasurement = Measurement & { handshakes: number };

type Sending = {
  name: string;
  pid: number;
  /** CPU time of the server that keeps its jobs. */
  database: () => number | null;
  /** Makes events due; none is sent yet. */
  add(events: number): Promise<void>;
  send(): Promise<void>;
  /** @returns when all of them were stored as delivered (`machineMs`). */
  finish(): Promise<number>;
};

type Parts = {
  adminUrl: string;
  /** CPU time of PostgreSQL. */
  postgres: () => number | null;
  /** Null on a machine that has none and cannot get it: then BullMQ takes no part. */
  redis: Redis | null;
  receiver: WebhookReceiver;
  merchants: readonly WebhookMerchant[];
  onEnd: BenchmarkContext['onEnd'];
};

const LOOK_EVERY_MS = 5;

/** The dispatcher, a loop without a database, two job queues on the same server and one in Redis, all sending to the same merchants. */
export async function startRates(
  options: Omit<Parts, 'postgres'> & { dispatcherPid: number; db: pg.Client },
): Promise<(events: number) => Contender[]> {
  const { adminUrl, receiver, redis } = options;
  const postmaster = await postmasterOf(adminUrl);
  const parts = { ...options, postgres: () => cpuUsOfFamily(postmaster) };
  const all = [dispatcher(parts)];
  for (const kind of ['raw', 'graphile-worker', 'pg-boss'] as const)
    all.push(await otherSender(parts, kind, parts.postgres));
  if (redis !== null) all.push(await otherSender(parts, 'BullMQ', () => cpuUsOf(redis.pid)));
  return (events) =>
    all.map((sending) => ({
      name: sending.name,
      measure: () => measure(sending, events, { adminUrl, receiver }),
    }));
}

/**
 * From the first event's arrival until the last is stored as delivered. The time until a sender notices the work is left out: in a
 * running system a message or a notification wakes it.
 * @throws Error when an event came twice.
 */
async function measure(
  sending: Sending,
  events: number,
  { adminUrl, receiver }: Pick<Parts, 'adminUrl' | 'receiver'>,
): Promise<RateMeasurement> {
  await sending.add(events);
  await tidy(adminUrl);
  await receiver.ask('forget');
  const walBefore = await walPosition(adminUrl);
  const counters: CpuCounters = {
    ...{ sender: () => cpuUsOf(sending.pid), database: sending.database, receiver: () => cpuUsOf(receiver.pid) },
  };
  const { result, cpuUs } = await withCpu(counters, async () => {
    await sending.send();
    const received = await receiver.ask('until', events);
    return { ...received, seconds: ((await sending.finish()) - received.firstAt) / 1000 };
  });
  const { repeated, seconds, handshakes } = result;
  if (repeated > 0) throw new Error(`${sending.name} sent ${repeated} of ${events} events more than once`);
  const walBytes = (await walPosition(adminUrl)) - walBefore;
  return { units: events, rate: events / seconds, p50Ms: Number.NaN, p99Ms: Number.NaN, cpuUs, walBytes, handshakes };
}

/** Cleans up after adding, so that it does not slow the run. */
async function tidy(adminUrl: string): Promise<void> {
  for (const database of ['webhooks', 'graphile_worker', 'pg_boss']) {
    const db = new pg.Client({ connectionString: addressOf(adminUrl, { database }) });
    await db.connect();
    await db.query('vacuum analyze');
    await db.end();
  }
}

function dispatcher(parts: Parts & { dispatcherPid: number; db: pg.Client }): Sending {
  const { db, merchants, dispatcherPid, postgres } = parts;
  return {
    ...{ name: 'webhook-dispatcher', pid: dispatcherPid, database: postgres },
    add: (events) => insertEvents(db, merchants, events),
    send: () => release(db, merchants),
    async finish() {
      for (;;) {
        const { rowCount } = await db.query(`select 1 from delivery where status = 'pending' limit 1`);
        if (rowCount === 0) return machineMs();
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
    },
  };
}

async function otherSender(parts: Parts, kind: SenderKind, database: Sending['database']): Promise<Sending> {
  const { receiver, merchants, onEnd } = parts;
  const env = { ...process.env, NODE_ENV: 'production' };
  const sender: WebhookSender = startForked('webhook-sender-process.ts', kind, { env });
  onEnd(() => sender.close());
  const { port, authorityFile } = receiver;
  const address = await addressFor(kind, parts);
  await sender.ask('open', { kind, merchants, address, receiver: { port, authorityFile } });
  return {
    ...{ name: kind, pid: sender.pid, database },
    add: (events) => sender.ask('add', events),
    send: () => sender.ask('send'),
    finish: () => sender.ask('finish'),
  };
}

/** Creates a database for each queue in PostgreSQL. */
async function addressFor(kind: SenderKind, { adminUrl, redis }: Parts): Promise<string> {
  if (kind === 'BullMQ') return redis?.url ?? '';
  const database = kind.replace('-', '_');
  await createDatabase(adminUrl, database);
  return addressOf(adminUrl, { database });
}
