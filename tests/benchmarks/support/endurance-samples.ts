import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { schemas, serviceNames } from '@quittance/contracts/service-name.ts';
import { withDatabase } from '../../support/database.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import { management, virtualHostOf } from '../../support/management.ts';
import { openHandles, residentMegabytes } from './resident.ts';

type Footprint = { pid: number; megabytes: number; handles: number };
/** Bytes, and rows that vacuum has not removed yet. */
export type SchemaSize = { tables: number; indexes: number; dead: number };

/** The state of the system at one moment of the run. */
export type Sample = {
  /** Since the beginning of the run. */
  atMs: number;
  /** Payments created since then. */
  payments: number;
  /** By service; empty where there is no /proc. */
  processes: Record<string, Footprint>;
  /** By schema. */
  schemas: Record<string, SchemaSize>;
  /** The number that waits: in each outbox, in each queue of RabbitMQ, and webhooks that are due. */
  queues: Record<string, number>;
};

/** A sample at the beginning, one at the end, and one after each `everyMs` in between. */
export async function takeSamples(
  stack: JourneyStack,
  { count, everyMs, payments }: { count: number; everyMs: number; payments: () => number },
): Promise<Sample[]> {
  const startedAt = performance.now();
  const samples: Sample[] = [];
  for (let number = 0; number <= count; number += 1) {
    await delay(Math.max(0, startedAt + number * everyMs - performance.now()));
    const now = { atMs: performance.now() - startedAt, payments: payments() };
    const [processes, sizes, waiting, queues] = await Promise.all([
      footprints(stack),
      schemaSizes(stack),
      waitingRows(stack),
      brokerQueues(stack),
    ]);
    samples.push({ ...now, processes, schemas: sizes, queues: { ...waiting, ...queues } });
  }
  return samples;
}

async function footprints({ services }: JourneyStack): Promise<Sample['processes']> {
  if (!existsSync('/proc/self/status')) return {};
  const read = services.map(async ({ name, pid }) => {
    return [name, { pid, megabytes: await residentMegabytes(pid), handles: await openHandles(pid) }] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

const schemaSizes = ({ file }: JourneyStack): Promise<Sample['schemas']> =>
  withDatabase(file.postgres_url, async (db) => {
    const { rows } = await db.query<SchemaSize & { schema: string }>(
      `select schemaname as schema, sum(pg_table_size(relid))::float8 as tables, sum(pg_indexes_size(relid))::float8 as indexes,
              sum(n_dead_tup)::float8 as dead
         from pg_stat_user_tables where schemaname = any($1) group by schemaname order by schemaname`,
      [Object.values(schemas)],
    );
    return Object.fromEntries(rows.map(({ schema, ...size }) => [schema, size]));
  });

const waitingRows = ({ file }: JourneyStack): Promise<Sample['queues']> =>
  withDatabase(file.postgres_url, async (db) => {
    const outboxes = serviceNames.map(
      (name) => `(select count(*) from ${schemas[name]}.outbox)::int as "outbox of ${name}"`,
    );
    const { rows } = await db.query<Record<string, number>>(
      `select ${outboxes.join(', ')},
              (select count(*) from webhooks.delivery where status = 'pending' and next_attempt_at <= now())::int as "webhooks due"`,
    );
    return rows[0] ?? {};
  });

/** RabbitMQ updates its counts every five seconds. */
async function brokerQueues({ file }: JourneyStack): Promise<Sample['queues']> {
  if (file.management_url === null) return {};
  const path = `/queues/${virtualHostOf(file)}?columns=name,messages`;
  const queues = await management<{ name: string; messages?: number }[]>(file, 'GET', path);
  return Object.fromEntries(queues.map(({ name, messages = 0 }) => [name, messages]));
}
