import type { Queryable } from '@quittance/postgres/pool.ts';
import { statusesBefore } from '../state.ts';

/** Most events that are given up in one statement. */
export const GIVE_UP_BATCH = 1_000;

/**
 * Fails events of lanes that have been failing since before the events' cycles started: attempts that were spared while a circuit was
 * open must not keep an event pending forever. Events of blocked accounts wait on purpose.
 * @param afterSeconds age of a cycle, and of the lane's failing, from which on.
 * @returns how many events became `failed`, at most GIVE_UP_BATCH.
 */
export async function giveUpDeliveries(db: Queryable, afterSeconds: number): Promise<number> {
  const { rowCount } = await db.query(
    `update delivery d
        set status = 'failed', next_attempt_at = null, error_category = coalesce(d.error_category, old.error_category)
       from (
         select p.event_id, l.error_category
           from lane l
          cross join lateral (
            select event_id from delivery
             where merchant_id = l.merchant_id and status = any($2) and lease_id is null
               and cycle_started_at <= now() - make_interval(secs => $1)
             limit $3
               for update skip locked
          ) p
          where l.failing_since <= now() - make_interval(secs => $1) and not l.held
          limit $3
       ) old
      where d.event_id = old.event_id`,
    [afterSeconds, statusesBefore('failed'), GIVE_UP_BATCH],
  );
  return rowCount ?? 0;
}
