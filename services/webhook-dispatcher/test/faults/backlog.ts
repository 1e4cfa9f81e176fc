import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Merchant } from '../world.ts';

/** Stores many due events of a merchant that have not been tried, as after days without a receiver. */
export async function insertBacklog(db: Queryable, { merchantId }: Merchant, count: number): Promise<void> {
  for (let first = 1; first <= count; first += ROWS_PER_STATEMENT) {
    await insertDeliveries(db, merchantId, first, Math.min(count, first + ROWS_PER_STATEMENT - 1));
  }
  // Last, so that no event is sent before all are stored.
  await db.query(
    `insert into lane (merchant_id, next_due_at) values ($1, now()) on conflict (merchant_id) do update set next_due_at = now()`,
    [merchantId],
  );
}

/** Few enough for the statement timeout on a busy machine. */
const ROWS_PER_STATEMENT = 10_000;

async function insertDeliveries(db: Queryable, merchantId: string, first: number, last: number): Promise<void> {
  await db.query(
    `with new as (
       select 'evt_' || md5(n || $1) as event_id, 'pay_' || md5($1 || n) as payment_id, n from generate_series($2::int, $3::int) n
     ), stored as (
       insert into event (event_id, payment_id, merchant_id, body)
       select event_id, payment_id, $1, convert_to(json_build_object(
                'event_id', event_id, 'payment_id', payment_id, 'status', 'PAID', 'expected_amount', '10.50',
                'transaction_id', md5($1) || md5(n::text), 'transaction_event_index', 3, 'description', 'backlog ' || n)::text, 'UTF8')
         from new
       returning event_id
     )
     insert into delivery (event_id, merchant_id, next_attempt_at)
     select event_id, $1, now() - interval '1 hour' from stored`,
    [merchantId, first, last],
  );
}
