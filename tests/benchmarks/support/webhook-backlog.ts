import type pg from 'pg';
import { withDatabase } from '../../support/database.ts';
import { dropIndexes } from './filled-database.ts';
import { bodySql, insertMerchants, makeMerchants, release } from './webhook-merchants.ts';

/** The composition of a backlog. `LANES - 1 - DUE_LANES` lanes have nothing due. */
const LANES = 10_000;
const DUE_LANES = 4_000;

/**
 * Fills webhooks' schema with pending deliveries: a tenth of them due in one lane, whose receiver was away for days; a tenth due in 4,000
 * other lanes; the others retries that become due in the next days, in all lanes. Ids are in the order of time.
 * @param url the superuser's, of a database with only the service's migrations.
 */
export async function fillBacklog(url: string, deliveries: number): Promise<void> {
  await withDatabase(url, async (db) => {
    // A crash may lose it all. Creating the indexes at the end is faster than updating them.
    await db.query(`set synchronous_commit = off; set search_path = webhooks; set maintenance_work_mem = '512MB'`);
    const merchants = makeMerchants(LANES);
    await insertMerchants(db, merchants);
    await db.query(
      'create unlogged table merchants as select * from unnest($1::text[]) with ordinality m(merchant_id, number)',
      [merchants.map(({ merchantId }) => merchantId)],
    );
    await db.query('create unique index on merchants (number)');
    await db.query('analyze merchants');
    const restore = await dropIndexes(db, ['event', 'delivery']);
    await insertPending(db, deliveries);
    await restore();
    await db.query('drop table merchants');
    await release(db, merchants.slice(0, 1 + DUE_LANES));
    await db.query(
      `update lane
          set pace = 'quick',
              next_due_at = coalesce(next_due_at, (select min(next_attempt_at) from delivery d
                                                    where d.merchant_id = lane.merchant_id and status = 'pending'))`,
    );
    await db.query('vacuum analyze');
    await db.query('checkpoint');
  });
}

/** Of ten events in a row, one goes to the large lane, one to a lane with something due, and eight to any. */
async function insertPending(db: pg.Client, deliveries: number): Promise<void> {
  await db.query(`create unlogged table pending as
    select e.event_id, 'pay_' || substr(e.event_id, 5) as payment_id, m.merchant_id, e.created_at,
           case when e.n % 10 < 2 then e.created_at + interval '1 minute'
                else now() + interval '1 hour' + random() * interval '40 hours' end as next_attempt_at,
           case when e.n % 10 < 2 then 1 + e.n % 3 else 5 end as attempts
      from (
        select n, created_at, 'evt_' || replace(uuidv7(created_at - clock_timestamp())::text, '-', '') as event_id,
               case n % 10 when 0 then 1 when 1 then 2 + (n / 10) % ${DUE_LANES} else 2 + (n * 7919) % ${LANES - 1} end as lane
          from (select n, now() - interval '3 days' + n * (interval '2 days 23 hours' / ${deliveries}) as created_at
                  from generate_series(0::bigint, ${deliveries} - 1) n) numbered
      ) e join merchants m on m.number = e.lane`);
  await db.query(
    `insert into event (event_id, payment_id, merchant_id, body, created_at)
     select event_id, payment_id, merchant_id, convert_to(${bodySql('event_id', 'payment_id')}, 'UTF8'), created_at from pending`,
  );
  await db.query(
    `insert into delivery (event_id, merchant_id, attempts, next_attempt_at, created_at, last_attempt_at, error_category)
     select event_id, merchant_id, attempts, next_attempt_at, created_at, created_at + interval '30 seconds', 'http_5xx' from pending`,
  );
  await db.query('drop table pending');
}
