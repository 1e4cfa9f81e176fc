import type { Queryable } from '@quittance/postgres/pool.ts';

/** Deliveries of one lane that are counted at most, so that a dead receiver's backlog does not make the measuring slow. */
const MAX_COUNTED_PER_LANE = 10_000;

export type Backlog = {
  /** Deliveries due and not leased. */
  due: number;
  /** How long the oldest of them has been due, in seconds; 0 when there is none. */
  oldestSeconds: number;
  /** Lanes of blocked accounts that have something due. */
  heldLanes: number;
};

/** What waits to be sent now. Held lanes are counted on their own: they wait on purpose. */
export async function readBacklog(db: Queryable): Promise<Backlog> {
  const { rows } = await db.query<Backlog>(
    `select count(d.next_attempt_at)::int as due,
            coalesce(extract(epoch from now() - min(d.next_attempt_at)), 0)::float8 as "oldestSeconds",
            (select count(*)::int from lane where held and next_due_at <= now()) as "heldLanes"
       from lane l
      cross join lateral (
        select next_attempt_at from delivery
         where merchant_id = l.merchant_id and status = 'pending' and next_attempt_at <= now()
         order by next_attempt_at limit $1
      ) d
      where l.next_due_at <= now() and not l.held`,
    [MAX_COUNTED_PER_LANE],
  );
  return rows[0] ?? { due: 0, oldestSeconds: 0, heldLanes: 0 };
}

/** Makes the coming months' partitions of `attempt`. */
export async function ensureAttemptPartitions(db: Queryable): Promise<void> {
  await db.query('select ensure_attempt_partitions()');
}
