import type { ResponseOf } from '@quittance/contracts/call.ts';
import { LANE_DUE_MAX, type Lane, type ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { lanesOf } from './lane.ts';
import { type WithDates, withTextTimes } from '@quittance/runtime/time.ts';

/** Lists answer at most this many lanes. */
const MAX_LANES = 100;

type Times = 'oldest_due_at' | 'failing_since' | 'open_until' | 'put_off_until';
type LaneRow = WithDates<Omit<Lane, 'private_target'>, Times> & { total: number; lane: string };

/** `address:port` of the private target that a merchant's host leads to, as the settings have it now. */
export type PrivateTargetOf = (merchantId: string, host: string | null) => string | null;

/**
 * The lanes that wait, longest first: those with something due, and those with an open circuit and something pending.
 * @param which.merchantId that merchant's lanes alone, whether they wait or not; `which.lane` one of them.
 * @param which.held lanes of blocked accounts, instead of the others.
 */
export async function readWaitingLanes(
  db: Queryable,
  which: { merchantId: string } | { lane: string } | { held: boolean },
  privateTargetOf: PrivateTargetOf = () => null,
): Promise<ResponseOf<typeof ListLanes>> {
  const lanes = 'merchantId' in which ? lanesOf(which.merchantId) : 'lane' in which ? [which.lane] : null;
  const held = 'held' in which && which.held;
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
