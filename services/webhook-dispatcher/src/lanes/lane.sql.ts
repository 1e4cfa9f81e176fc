import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

/** The lane id of a merchant's notices is the merchant id with this suffix. */
export const NOTICES = ':notices';

/** The id of a merchant's notice lane. The id of its PAID lane is the merchant id. */
export const noticeLaneOf = (merchantId: string): string => `${merchantId}${NOTICES}`;

export const isForNotices = (laneId: string): boolean => laneId.endsWith(NOTICES);

/** The id of the lane's merchant. */
export const merchantOf = (laneId: string): string =>
  isForNotices(laneId) ? laneId.slice(0, -NOTICES.length) : laneId;

/** The ids of both lanes of a merchant. */
export const lanesOf = (merchantId: string): string[] => [merchantId, noticeLaneOf(merchantId)];

/** Makes an existing lane due as soon as the new row, or when its open circuit may be probed; never later than it was. */
const orSooner = `
     on conflict (merchant_id) do update set next_due_at = greatest(excluded.next_due_at, lane.open_until)
      where lane.next_due_at is null or lane.next_due_at > greatest(excluded.next_due_at, lane.open_until)`;

/**
 * As makeLanesDueNow(), for merchants' notice lanes. A new one starts with the account status and the pace of the PAID lane.
 */
export async function makeNoticeLanesDueNow(tx: Transaction, merchantIds: readonly string[]): Promise<void> {
  if (merchantIds.length === 0) return;
  const unique = [...new Set(merchantIds)];
  await tx.query(
    `insert into lane (merchant_id, notices_of, next_due_at, held, status_version, pace)
     select m.lane, m.merchant_id, now(), coalesce(paid.held, false), coalesce(paid.status_version, 0), coalesce(paid.pace, 'new')
       from unnest($1::text[], $2::text[]) as m(lane, merchant_id)
       left join lane paid on paid.merchant_id = m.merchant_id
      order by m.lane
     ${orSooner}`,
    [unique.map(noticeLaneOf), unique],
  );
}

/**
 * Makes lanes due now, or when their open circuits may be probed. Make it the last statement of the transaction, because it waits for claims
 * of these lanes and then blocks further claims. A lane that is already due is only locked, so that a concurrent claim has ended or waits.
 * Rows are locked in order, so that two batches do not deadlock.
 */
export async function makeLanesDueNow(tx: Transaction, laneIds: readonly string[]): Promise<void> {
  if (laneIds.length === 0) return;
  await tx.query(
    `insert into lane (merchant_id, next_due_at)
     select merchant_id, now() from unnest($1::text[]) as m(merchant_id) order by merchant_id
     ${orSooner}`,
    [[...new Set(laneIds)]],
  );
}

/** Makes lanes due when their moved deliveries are. The caller has locked the lanes. */
export async function makeLanesDue(
  tx: Transaction,
  due: readonly { lane_id: string; next_attempt_at: Date }[],
): Promise<void> {
  if (due.length === 0) return;
  await tx.query(
    `update lane l
        set next_due_at = least(l.next_due_at,
                                -- Released deliveries wait for an open circuit. A released probe does not.
                                case l.circuit_state when 'half_open' then due.due_at else greatest(due.due_at, l.open_until) end)
       from (select merchant_id, min(due_at) as due_at from unnest($1::text[], $2::timestamptz[]) as d(merchant_id, due_at)
              group by merchant_id) due
      where l.merchant_id = due.merchant_id`,
    [due.map((row) => row.lane_id), due.map((row) => row.next_attempt_at)],
  );
}

/**
 * Holds the deliveries of a blocked account, or releases them; only the newest status counts. The time on hold was not the receiver's fault,
 * so a release restarts the time after which a failing receiver's events are given up.
 * @returns false if this status or a newer one was applied before.
 */
export async function holdLane(
  tx: Transaction,
  { merchantId, held, statusVersion }: { merchantId: string; held: boolean; statusVersion: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into lane (merchant_id, notices_of, held, status_version) values ($1, null, $2, $3), ($4, $1, $2, $3)
     on conflict (merchant_id) do update
        set held = excluded.held, status_version = excluded.status_version,
            failing_since = case when lane.held and not excluded.held and lane.failing_since is not null then now()
                                 else lane.failing_since end
      where lane.status_version < excluded.status_version`,
    [merchantId, held, statusVersion, noticeLaneOf(merchantId)],
  );
  return rowCount !== 0;
}

/**
 * Locks lanes in order, so that two transactions do not deadlock. Then running claims of these lanes have ended, and later claims see
 * everything that this transaction does.
 */
export async function lockLanes(tx: Transaction, laneIds: readonly string[]): Promise<void> {
  await tx.query('select from lane where merchant_id = any($1) order by merchant_id for update', [laneIds]);
}

/** Makes open circuits due for a probe now, because a person retries an event or has changed a key or URL. */
export async function probeLanesNow(tx: Transaction, lanes: readonly string[]): Promise<void> {
  await tx.query(
    `update lane set open_until = now(), next_due_at = now() where merchant_id = any($1) and open_until is not null`,
    [lanes],
  );
}

/** Restarts the time after which a failing receiver's events are given up: the failures so far were at another URL. */
export async function restartGiveUp(tx: Transaction, lanes: readonly string[]): Promise<void> {
  await tx.query(`update lane set failing_since = now() where merchant_id = any($1) and failing_since is not null`, [
    lanes,
  ]);
}

/** Opens the circuits of lanes to which we cannot send because of a fault on our side. */
export async function openLaneCircuits(db: Queryable, laneIds: ReadonlySet<string>, seconds: number): Promise<void> {
  await db.query(
    `update lane l
        set circuit_state = 'open', open_until = now() + make_interval(secs => $2), recovery_limit = null,
            next_due_at = now() + make_interval(secs => $2), error_category = 'interrupted'
       from (select merchant_id from lane where merchant_id = any($1) order by merchant_id for update) locked
      where l.merchant_id = locked.merchant_id`,
    [[...laneIds], seconds],
  );
}

/** Marks lanes as slow in every process, even before their long attempts end. */
export async function markLanesSlow(db: Queryable, laneIds: readonly string[]): Promise<void> {
  await db.query(
    `update lane l set pace = 'slow'
       from (select merchant_id from lane where merchant_id = any($1) and pace <> 'slow' order by merchant_id for update) locked
      where l.merchant_id = locked.merchant_id`,
    [laneIds],
  );
}
