import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Usage } from '@quittance/chain-reader/rpc/daily-budget.ts';

/** `endpoint`: see usageKey(). `day`: YYYY-MM-DD. */
export type UsageKey = { network: string; endpoint: Buffer; day: string };

/** Adds what this replica has asked. @returns what all replicas have asked on that day. */
export async function addUsage(
  db: Queryable,
  { network, endpoint, day }: UsageKey,
  { requests, units }: Usage,
): Promise<Usage> {
  const { rows } = await db.query<Usage>(
    `insert into endpoint_usage as usage (network, endpoint, day, requests, units) values ($1, $2, $3, $4, $5)
     on conflict (network, endpoint, day)
     do update set requests = usage.requests + excluded.requests, units = usage.units + excluded.units
     returning requests::float8, units::float8`,
    [network, endpoint, day, requests, units],
  );
  if (rows[0] === undefined) throw new Error('the statement returned no row');
  return rows[0];
}

const KEPT_DAYS = 40;

/** Forgets days of which nobody asks any more. */
export async function forgetOldUsage(db: Queryable, { network, endpoint, day }: UsageKey): Promise<void> {
  await db.query('delete from endpoint_usage where network = $1 and endpoint = $2 and day < $3::date - $4::integer', [
    network,
    endpoint,
    day,
    KEPT_DAYS,
  ]);
}
