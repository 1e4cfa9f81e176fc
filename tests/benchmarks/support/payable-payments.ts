import type pg from 'pg';
import { withDatabase } from '../../support/database.ts';
import { NETWORK } from './payments-process.ts';
import type { PayablePayment } from './transfers.ts';

/** Inserted without the service: payments that wait for 7 USDT on a wallet each, numbered from `first` on. */
export async function addPayable(adminUrl: string, first: number, count: number): Promise<PayablePayment[]> {
  return withDatabase(adminUrl, async (db) => {
    await db.query('set search_path = payments; set synchronous_commit = off');
    const { rows } = await db.query<PayablePayment>(
      `insert into payment (payment_id, merchant_id, public_token, token_sha256, network, recipient, amount, amount_units, description,
                            created_at, expires_at, expiry_check_at)
       select 'pay_' || md5(n::text), 'mer_' || repeat('b', 32), md5(n::text), sha256(n::text::bytea), $3,
              '0x' || md5(n::text) || substr(md5(n::text), 1, 8), '7', 7000000, 'Order 12345, two teas',
              now(), now() + interval '1 hour', now() + interval '1 hour'
         from generate_series($1::bigint, $1::bigint + $2::bigint - 1) as n
       returning payment_id, merchant_id, recipient, amount, network`,
      [first, count, NETWORK],
    );
    return rows;
  });
}

/** @returns how many payments of these numbers are not paid yet. */
export async function countUnpaid(db: pg.Client, first: number, count: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-unpaid',
    text: `select count(*)::integer as count from payments.payment where status <> 'PAID' and payment_id = any (array(
             select 'pay_' || md5(n::text) from generate_series($1::bigint, $1::bigint + $2::bigint - 1) as n))`,
    values: [first, count],
  });
  return rows[0]?.count ?? count;
}

export async function countOutbox(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::integer as count from payments.outbox');
  return rows[0]?.count ?? 0;
}
