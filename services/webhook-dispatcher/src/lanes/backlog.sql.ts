import type { ErrorCategory } from '@quittance/contracts/webhook.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { ResponseOf } from '@quittance/contracts/call.ts';
import { LANE_DUE_MAX, type Lane, type ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import { type WithDates, withTextTimes } from '@quittance/runtime/time.ts';
import { statusesBefore } from '../state.ts';

/**
 * The most deliveries that are counted, in total and of each lane that is shown by name. Before a vacuum each may cost a heap fetch: with ten
 * million pending, counting a hundred thousand took seconds.
 */
const MAX_COUNTED = 20_000;
const MAX_COUNTED_OF_LANE = 1_000;

/** A lane is overdue if a delivery has been due for this time: far longer than a claim takes. */
const OVERDUE_SECONDS = 60;

/** `due` up to 1,000. */
type LaneBacklog = { merchantId: string; due: number; oldestSeconds: number };

export type Backlog = {
  /** Deliveries due that may be sent now, up to 20,000. */
  due: number;
  /** How long the oldest of them with a PAID event has been due, in seconds, or 0. Notices wait for PAID events on purpose. */
  oldestSeconds: number;
  /** PAID lanes that may be sent to now, with a delivery due for more than a minute. */
  overdueLanes: number;
  /** Lanes of blocked accounts with due deliveries. */
  heldLanes: number;
  /** Lanes with an open or half-open circuit and pending deliveries. */
  openLanes: number;
  /** The lanes that have waited longest, including those with an open circuit, longest first. */
  longest: LaneBacklog[];
};

/**
 * The backlog. Lanes that wait on purpose do not count as due: lanes of blocked accounts, without an endpoint, with an open circuit, or to a
 * host that cannot be reached. The last two are not due before their pause ends.
 * It costs one index look-up for each lane with pending deliveries, and counts no further than the limits above.
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
 * Merchants whose receiver has failed since its last success, by the last error category; categories without merchants are left out. Merchants
 * without pending deliveries, and blocked ones, are not counted.
 */
export async function countFailingLanes(db: Queryable): Promise<Map<ErrorCategory, number>> {
  const { rows } = await db.query<{ error_category: ErrorCategory; count: number }>(
    `select error_category, count(*)::int as count from lane
      where failures > 0 and next_due_at is not null and not held group by error_category`,
  );
  return new Map(rows.map((row) => [row.error_category, row.count]));
}

/** Rows in the default partition, up to 1,000. There are only some if a month's partition was not created in time. */
export async function countMisplacedAttempts(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from (select 1 from attempt_default limit 1000) a`,
  );
  return rows[0]?.count ?? 0;
}

export async function ensureAttemptPartitions(db: Queryable): Promise<void> {
  await db.query('select ensure_attempt_partitions()');
}

/** Lanes per list. */
const MAX_LANES = 100;

type Times = 'oldest_due_at' | 'failing_since' | 'open_until' | 'put_off_until';
type LaneRow = WithDates<Omit<Lane, 'private_target'>, Times> & { total: number; lane: string };

/** `address:port` of a merchant's private target at this host, from the current settings. */
export type PrivateTargetOf = (merchantId: string, host: string | null) => string | null;

/**
 * Waiting lanes, the longest wait first: those with due deliveries, and those with an open circuit and pending deliveries.
 * @param which.lanes only these, waiting or not.
 * @param which.held lanes of blocked accounts instead of the others.
 */
export async function readWaitingLanes(
  db: Queryable,
  which: { lanes: readonly string[] } | { held: boolean },
  privateTargetOf: PrivateTargetOf = () => null,
): Promise<ResponseOf<typeof ListLanes>> {
  const [lanes, held] = 'lanes' in which ? [which.lanes, false] : [null, which.held];
  const { rows } = await db.query<LaneRow>(
    `with waiting as materialized (
       select l.merchant_id as lane, coalesce(l.notices_of, l.merchant_id) as merchant_id,
              case when l.notices_of is null then 'paid' else 'notices' end as events, l.held, l.failures, l.failing_since, l.error_category, l.circuit_state, l.open_until,
              l.times_opened, l.recovery_limit, head.due_at as oldest_due_at,
              case when head.due_at is not null and l.next_due_at > now() then l.next_due_at end as put_off_until
         from lane l
         left join lateral (
           select next_attempt_at as due_at from delivery
            where merchant_id = l.merchant_id and status = 'pending' and next_attempt_at <= now()
            order by next_attempt_at limit 1
         ) head on true
        where ($1::text[] is null or l.merchant_id = any($1))
          and ($1::text[] is not null or l.held = $2 and (head.due_at is not null
               or l.open_until is not null and l.next_due_at is not null))
     )
     select w.*, e.host, (select count(*)::int from waiting) as total,
            (select count(*)::int from (
               select 1 from delivery
                where merchant_id = w.lane and status = 'pending' and next_attempt_at <= now() limit $3
             ) d) as due
       from (select * from waiting order by oldest_due_at, lane limit $4) w
       left join endpoint e on e.merchant_id = w.merchant_id
      order by w.oldest_due_at, w.lane`,
    [lanes, held, LANE_DUE_MAX, MAX_LANES],
  );
  return {
    lanes: rows.map(({ total: _total, lane: _lane, ...lane }) => ({
      ...withTextTimes(lane),
      private_target: privateTargetOf(lane.merchant_id, lane.host),
    })),
    total: rows[0]?.total ?? 0,
  };
}

/** Events per statement. */
export const GIVE_UP_BATCH = 1_000;

/**
 * Fails events of lanes that have been failing for a long time: attempts that were skipped while a circuit was open must not keep an event
 * pending forever. Events of blocked accounts wait on purpose.
 * @param afterSeconds minimum age of the event's cycle and of the lane's first failure.
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
