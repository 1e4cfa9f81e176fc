import type pg from 'pg';
import { withDatabase } from '../../support/database.ts';
import { dropIndexes } from './filled-database.ts';
import { bodySql, insertMerchants, makeMerchants, release } from './webhook-merchants.ts';

/** The same in databases of every size: open rows don't grow with finished ones. */
const MERCHANTS = 500;
const PENDING = 2_000;

/**
 * Fills webhooks' schema with delivered events of three months, and a few that are due.
 * @param url the superuser's, of a database with only the service's migrations.
 */
export async function fillWebhooks(url: string, events: number): Promise<void> {
  await withDatabase(url, async (db) => {
    await db.query(`set synchronous_commit = off; set search_path = webhooks; set maintenance_work_mem = '256MB'`);
    const merchants = makeMerchants(MERCHANTS);
    await insertMerchants(db, merchants);
    const restore = await dropIndexes(db, ['event', 'delivery']);
    await addEvents(db, { first: 0, count: events, span: '90 days' });
    await addEvents(db, { first: events, count: PENDING, span: '1 minute' });
    await restore();
    await close(db, 0, events);
    await release(db, merchants);
    await db.query(`update lane set pace = 'quick'`);
    // Rewritten, because each row was updated above and the comparison needs a vacuumed table.
    await db.query('vacuum full event, delivery');
    await db.query('vacuum analyze');
    await db.query('alter table delivery set (autovacuum_enabled = off)');
    await db.query('checkpoint');
  });
}

const AT_ONCE = 25_000;

/**
 * Writes events and delivers all of them, as in a busy hour, without a vacuum.
 * @param first numbers that no other call uses.
 */
export async function deliverMany(adminUrl: string, first: number, count: number): Promise<void> {
  await withDatabase(adminUrl, async (db) => {
    await db.query('set search_path = webhooks; set synchronous_commit = off');
    for (let done = 0; done < count; done += AT_ONCE) {
      const part = Math.min(count - done, AT_ONCE);
      await addEvents(db, { first: first + PENDING + done, count: part, span: '10 minutes' });
      await close(db, first + PENDING + done, part);
    }
  });
}

const idOf = (n: string): string => `md5('event ' || ${n})`;

/** Due since they were written. */
async function addEvents(
  db: pg.Client,
  { first, count, span }: { first: number; count: number; span: string },
): Promise<void> {
  await db.query(
    `with made as materialized (
       select 'evt_' || replace(uuidv7(at - clock_timestamp())::text, '-', '') as event_id, 'pay_' || ${idOf('n')} as payment_id,
              merchant_id, at
         from (select n, now() - $3::interval * (1 - (n - $1)::float8 / $2) as at
                 from generate_series($1::bigint, $1::bigint + $2::bigint - 1) n) numbered
         join (select merchant_id, row_number() over () - 1 as number from endpoint) merchant on number = n % ${MERCHANTS}
     ), stored as (
       insert into event (event_id, payment_id, merchant_id, body, created_at)
       select event_id, payment_id, merchant_id, convert_to(${bodySql('event_id', 'payment_id')}, 'UTF8'), at from made order by at
     )
     insert into delivery (event_id, merchant_id, next_attempt_at, created_at) select event_id, merchant_id, at, at from made order by at`,
    [first, count, span],
  );
}

const close = (db: pg.Client, first: number, count: number) =>
  db.query(
    `update delivery set status = 'delivered', next_attempt_at = null, attempts = 1,
                         last_attempt_at = created_at + interval '1 second', delivered_at = created_at + interval '1 second'
      where event_id in (select event_id from event
                          where payment_id in (select 'pay_' || ${idOf('n')} from generate_series($1::bigint, $1::bigint + $2::bigint - 1) n))`,
    [first, count],
  );
