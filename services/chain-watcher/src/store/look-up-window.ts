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

/**
 * Takes one look-up out of the window of a link or of a client address. Forgets a few windows that are over: with two rows at most for each
 * look-up, the table stays as small as a day's look-ups.
 * @returns how much of it is used now, this one included; null when all of it was used already.
 */
export async function takeCustomerLookUp(
  db: Queryable,
  subject: `link ${string}` | `client ${string}`,
  { limit, windowSeconds }: { limit: number; windowSeconds: number },
): Promise<number | null> {
  const { rows } = await db.query<{ used: number }>(
    `with over as (
       delete from customer_look_up where subject in (
         select subject from customer_look_up
         where ends_at <= now() and subject <> $1 order by ends_at limit 10 for update skip locked)
     )
     insert into customer_look_up as w (subject, used, ends_at) values ($1, 1, now() + $3 * interval '1 second')
     on conflict (subject) do update set
       used = case when w.ends_at <= now() then 1 else w.used + 1 end,
       ends_at = case when w.ends_at <= now() then excluded.ends_at else w.ends_at end
     where w.ends_at <= now() or w.used < $2
     returning used`,
    [subject, limit, windowSeconds],
  );
  return rows[0]?.used ?? null;
}
