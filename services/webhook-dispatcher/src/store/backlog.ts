import type { ErrorCategory } from '@quittance/contracts/webhook.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

/**
 * Deliveries that are counted at most, in all and of each lane that is shown by name. Until a vacuum has passed, each may cost a heap
 * fetch: with ten million pending, counting a hundred thousand took seconds.
 */
const MAX_COUNTED = 20_000;
const MAX_COUNTED_OF_LANE = 1_000;

/** How long something may be due before its lane counts as overdue: far longer than a claim takes. */
const OVERDUE_SECONDS = 60;

/** `due` up to 1,000. */
type LaneBacklog = { merchantId: string; due: number; oldestSeconds: number };

export type Backlog = {
  /** Deliveries due that may be sent now, up to 20,000. */
  due: number;
  /** How long the oldest PAID one of them has been due, in seconds; 0 when there is none. Notices wait for these on purpose. */
  oldestSeconds: number;
  /** Lanes of PAID events that may be sent to now, with something due for more than a minute. */
  overdueLanes: number;
  /** Lanes of blocked accounts that have something due. */
  heldLanes: number;
  /** Lanes whose circuit is open or half-open, with something pending. */
  openLanes: number;
  /** The lanes that wait longest, those with an open circuit included, longest first. */
  longest: LaneBacklog[];
};

/**
 * What waits to be sent now. Lanes that wait on purpose are counted apart: of blocked accounts, without an endpoint, with an open
 * circuit, or on a host that cannot be reached; the last two are not due before their pause is over.
 * One index look-up for each lane with anything pending; nothing is counted beyond its bound.
 * @param options.longest how many lanes to show by name.
 */
export async function readBacklog(db: Queryable, { longest }: { longest: number }): Promise<Backlog> {
  const { rows } = await db.query<Backlog>(
    `with waiting as materialized (
       select l.merchant_id, head.due_at, l.open_until is null and l.next_due_at <= now() as is_sendable,
              l.notices_of is null as is_paid
         from lane l
        cross join lateral (
          select next_attempt_at as due_at from delivery
           where merchant_id = l.merchant_id and status = 'pending' order by next_attempt_at limit 1
        ) head
        where l.next_due_at is not null and not l.held and head.due_at <= now()
          and exists (select from endpoint e where e.merchant_id = coalesce(l.notices_of, l.merchant_id))
     ), counted as (
       select 1 from waiting w
        cross join lateral (
          select 1 from delivery
           where merchant_id = w.merchant_id and status = 'pending' and next_attempt_at <= now()
           limit $1
        ) d
        where w.is_sendable
        limit $1
     ), longest as (
       select w.merchant_id, extract(epoch from now() - w.due_at)::float8 as seconds,
              (select count(*)::int from (
                 select 1 from delivery
                  where merchant_id = w.merchant_id and status = 'pending' and next_attempt_at <= now()
                  limit $2
               ) d) as due
         from (select * from waiting order by due_at limit $3) w
     )
     select (select count(*)::int from counted) as due,
            coalesce(extract(epoch from now() - min(due_at) filter (where is_sendable and is_paid)), 0)::float8 as "oldestSeconds",
            count(*) filter (where is_sendable and is_paid and due_at <= now() - make_interval(secs => $4))::int as "overdueLanes",
            (select count(*)::int from lane where held and next_due_at <= now()) as "heldLanes",
            (select count(*)::int from lane where open_until is not null and next_due_at is not null) as "openLanes",
            (select coalesce(jsonb_agg(jsonb_build_object('merchantId', merchant_id, 'due', due, 'oldestSeconds', seconds)
                                       order by seconds desc), '[]') from longest) as longest
       from waiting`,
    [MAX_COUNTED, MAX_COUNTED_OF_LANE, longest, OVERDUE_SECONDS],
  );
  const [backlog] = rows;
  if (backlog === undefined) throw new Error('the backlog query returned no row');
  return backlog;
}

/**
 * Merchants whose receiver has failed since its last success, by how it failed last; a category without any is left out. Merchants
 * that are sent nothing, because nothing pends or the account is blocked, are not counted.
 */
export async function countFailingLanes(db: Queryable): Promise<Map<ErrorCategory, number>> {
  const { rows } = await db.query<{ error_category: ErrorCategory; count: number }>(
    `select error_category, count(*)::int as count from lane
      where failures > 0 and next_due_at is not null and not held group by error_category`,
  );
  return new Map(rows.map((row) => [row.error_category, row.count]));
}

/** Rows in the default partition, up to 1,000: there are some only when a month's partition was not created in time. */
export async function countMisplacedAttempts(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from (select 1 from attempt_default limit 1000) a`,
  );
  return rows[0]?.count ?? 0;
}

/** Creates the coming months' partitions of `attempt`. */
export async function ensureAttemptPartitions(db: Queryable): Promise<void> {
  await db.query('select ensure_attempt_partitions()');
}
