import type { Queryable } from '@quittance/postgres/pool.ts';

/** Long enough for a process that is busy to extend it in time, short enough for the merchant of one that was killed. */
const LEASE = '45 seconds';

/**
 * Takes a merchant's lease, on the database's clock.
 * @param holder a new UUID.
 * @returns since when it is held; or after how many seconds, at least 1, it ends that somebody else holds.
 */
export async function takeExportLease(
  db: Queryable,
  merchantId: string,
  holder: string,
): Promise<{ heldSince: Date } | { secondsLeft: number }> {
  const { rows } = await db.query<{ now: Date }>(
    `insert into export_lease as held (merchant_id, holder, ends_at)
     values ($1, $2, clock_timestamp() + interval '${LEASE}')
     on conflict (merchant_id) do update set holder = excluded.holder, ends_at = excluded.ends_at
      where held.ends_at <= clock_timestamp()
     returning clock_timestamp() as now`,
    [merchantId, holder],
  );
  if (rows[0] !== undefined) return { heldSince: rows[0].now };
  const { rows: others } = await db.query<{ seconds: number }>(
    `select greatest(1, ceil(extract(epoch from ends_at - clock_timestamp())))::integer as seconds
       from export_lease where merchant_id = $1`,
    [merchantId],
  );
  // It may have ended meanwhile.
  return { secondsLeft: others[0]?.seconds ?? 1 };
}

/** @returns false when it ended and somebody else may have it. */
export async function extendExportLease(db: Queryable, merchantId: string, holder: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update export_lease set ends_at = clock_timestamp() + interval '${LEASE}'
      where merchant_id = $1 and holder = $2`,
    [merchantId, holder],
  );
  return rowCount === 1;
}

export async function releaseExportLease(db: Queryable, merchantId: string, holder: string): Promise<void> {
  await db.query('delete from export_lease where merchant_id = $1 and holder = $2', [merchantId, holder]);
}
