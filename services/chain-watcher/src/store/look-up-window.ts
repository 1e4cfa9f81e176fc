import type { Queryable } from '@quittance/postgres/pool.ts';

const WINDOW = `interval '1 hour'`;

/**
 * Takes one look-up out of a merchant's hour, which begins with its first.
 * @param limit what may be used of it by now, this one included.
 * @returns false when that much is used already; nothing is taken then.
 */
export async function takeLookUp(db: Queryable, merchantId: string, limit: number): Promise<boolean> {
  if (limit < 1) return false;
  const { rowCount } = await db.query(
    `insert into look_up_window as w (merchant_id, started_at, used) values ($1, now(), 1)
     on conflict (merchant_id) do update set
       started_at = case when w.started_at <= now() - ${WINDOW} then now() else w.started_at end,
       used = case when w.started_at <= now() - ${WINDOW} then 1 else w.used + 1 end
     where w.started_at <= now() - ${WINDOW} or w.used < $2`,
    [merchantId, limit],
  );
  return rowCount === 1;
}
