import { randomUUID } from 'node:crypto';
import { advanceBounds, claimMessages, insertMessages } from '@quittance/messaging/outbox/store.ts';
import { messagingMigrations } from '@quittance/messaging/schema/service-schema.ts';
import { createPool, type Pool, type Queryable } from '@quittance/postgres/pool.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { latenciesOf } from '../../benchmarks/support/latencies.ts';
import type { Row } from './row.ts';

const DEAD = 3_000_000;
const AT_ONCE = 10_000;
const CLAIMS = 20;
const name = 'PaymentCreated';
/** How much longer a claim may take with the dead rows, with some allowance for a busy machine. */
const MOST_TIMES = 3;
const MOST_MORE_MS = 20;

export const row: Row = {
  name: 'dead-rows',
  about:
    '300,000 and 3,000,000 (or --runs) messages sent while a session reads: a claim of the relay takes as long as before',
  before: 'a claim took 0.4 s at 300,000, and minutes at 3,000,000',
  async run({ runs, say, onEnd }) {
    const database = await testDatabase({ schema: 'payments', migrations: [messagingMigrations] });
    onEnd(() => database.drop());
    const pool = createPool({
      url: database.url,
      schema: 'payments',
      max: 3,
      logger: testLogger,
      applicationName: 'dead',
    });
    onEnd(() => pool.end());
    const reader = await pool.connect();
    const writer = await pool.connect();
    onEnd(() => {
      reader.release(true);
      writer.release(true);
      return Promise.resolve();
    });
    await writer.query('set enable_seqscan = off');
    await reader.query('set idle_in_transaction_session_timeout = 0');
    await reader.query('begin isolation level repeatable read');
    await reader.query('select from outbox');

    await claims(pool, writer);
    const without = latenciesOf(await claims(pool, writer));
    const measured: string[] = [];
    const broken: string[] = [];
    let made = 0;
    for (const dead of runs === null ? [DEAD / 10, DEAD] : [runs]) {
      for (; made < dead; made += AT_ONCE) await makeDead(writer, made);
      const beside = latenciesOf(await claims(pool, writer));
      measured.push(
        `p99 of a claim ${without.p99.toFixed(1)} ms without, ${beside.p99.toFixed(1)} ms with ${dead} dead rows`,
      );
      say(`  ${measured.at(-1)}`);
      if (beside.p99 > Math.max(MOST_TIMES * without.p99, without.p99 + MOST_MORE_MS))
        broken.push(
          `with ${dead} dead rows the p99 of a claim went from ${without.p99.toFixed(1)} to ${beside.p99.toFixed(1)} ms`,
        );
    }
    return { measured, broken };
  },
};

/** Messages sent over hours, the last one ten minutes ago. */
async function makeDead(writer: Queryable, before: number): Promise<void> {
  const { rows } = await writer.query<{ from: string }>(
    `with made as (
       insert into outbox (message_id, name, version, merchant_id, body, request_id, created_at, not_before)
       select gen_random_uuid(), $1, 1, 'm', repeat('x', 300), 'r', time, time
         from (select now() - make_interval(secs => 600 + ($3::integer - $4::integer - position) / 1000.0) as time
                 from generate_series(1, $2::integer) as position) as times
       returning created_at)
     select min(created_at)::text as from from made`,
    [name, AT_ONCE, DEAD, before],
  );
  await writer.query('delete from outbox where created_at >= $1', [rows[0]!.from]);
}

async function claims(pool: Pool, writer: Queryable): Promise<number[]> {
  const durations: number[] = [];
  for (let claim = 0; claim < CLAIMS; claim += 1) {
    const message = { name, version: 1, merchant_id: 'm', body: '{}', request_id: 'r', traceparent: null };
    await insertMessages(
      pool,
      Array.from({ length: 50 }, () => ({ ...message, message_id: randomUUID() })),
    );
    const startedAt = performance.now();
    const [bound] = await advanceBounds(pool, [{ name, since: null }]);
    const relay = { relayId: randomUUID(), leaseSeconds: 30, limit: 500, writtenWithin: null };
    const rows = await claimMessages(pool, { name, since: bound!.since, ...relay });
    durations.push(performance.now() - startedAt);
    if (rows.length !== 50) throw new Error(`a claim found ${rows.length} of 50 messages`);
    await writer.query('delete from outbox where message_id = any($1)', [rows.map(({ message_id: id }) => id)]);
  }
  return durations;
}
