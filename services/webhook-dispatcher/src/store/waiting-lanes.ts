import type { Queryable } from '@quittance/postgres/pool.ts';
import type { CircuitState } from '../state.ts';
import { withTextTimes } from './row.ts';
import type { WithTextTimes } from './row.ts';

/** Lists answer at most this many lanes. */
const MAX_LANES = 100;
/** Deliveries that are counted at most, of each lane. */
const MAX_COUNTED = 1_000;

/** A merchant's queue, as an operator reads it. */
type LaneRow = {
  merchant_id: string;
  /** Of the endpoint; null before the merchant's first PUT, until which nothing is sent. */
  host: string | null;
  /** Deliveries due and not being sent, up to 1,000. */
  due: number;
  oldest_due_at: Date | null;
  /** The account is blocked. */
  held: boolean;
  /** Failures since the last success, and since when. */
  failures: number;
  failing_since: Date | null;
  /** Of the last failure; it stays when the receiver recovers. */
  error_category: string | null;
  circuit_state: CircuitState;
  /** When an open circuit may be probed, or the lease of the probe of a half-open one lapses; otherwise null. */
  open_until: Date | null;
  /** How often the circuit opened since it was last closed. */
  times_opened: number;
  /** Attempts in flight that each process allows while the circuit is recovering; otherwise null. */
  recovery_limit: number | null;
  /** Something is due, and nothing is sent before this time: the circuit is open, or the host cannot be reached. */
  put_off_until: Date | null;
};

/** The lanes asked for, at most 100, and how many there are. */
export type WaitingLanes = { lanes: WithTextTimes<LaneRow>[]; total: number };

/**
 * The lanes that wait, longest first: those with something due, and those with an open circuit and something pending.
 * @param which.merchantId that merchant's lane alone, whether it waits or not.
 * @param which.held lanes of blocked accounts, instead of the others.
 */
export async function readWaitingLanes(
  db: Queryable,
  which: { merchantId: string } | { held: boolean },
): Promise<WaitingLanes> {
  const merchantId = 'merchantId' in which ? which.merchantId : null;
  const held = 'held' in which && which.held;
  const { rows } = await db.query<LaneRow & { total: number }>(
    `with waiting as materialized (
       select l.merchant_id, l.held, l.failures, l.failing_since, l.error_category, l.circuit_state, l.open_until,
              l.times_opened, l.recovery_limit, head.due_at as oldest_due_at,
              case when head.due_at is not null and l.next_due_at > now() then l.next_due_at end as put_off_until
         from lane l
         left join lateral (
           select next_attempt_at as due_at from delivery
            where merchant_id = l.merchant_id and status = 'pending' and next_attempt_at <= now()
            order by next_attempt_at limit 1
         ) head on true
        where ($1::text is null or l.merchant_id = $1)
          and ($1::text is not null or l.held = $2 and (head.due_at is not null
               or l.open_until is not null and l.next_due_at is not null))
     )
     select w.*, e.host, (select count(*)::int from waiting) as total,
            (select count(*)::int from (
               select 1 from delivery
                where merchant_id = w.merchant_id and status = 'pending' and next_attempt_at <= now() limit $3
             ) d) as due
       from (select * from waiting order by oldest_due_at, merchant_id limit $4) w
       left join endpoint e on e.merchant_id = w.merchant_id
      order by w.oldest_due_at, w.merchant_id`,
    [merchantId, held, MAX_COUNTED, MAX_LANES],
  );
  return { lanes: rows.map(({ total: _total, ...lane }) => withTextTimes(lane)), total: rows[0]?.total ?? 0 };
}
