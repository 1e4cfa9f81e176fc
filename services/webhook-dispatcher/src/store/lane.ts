import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

/** Behind a merchant's id it names the lane for its notices. */
export const NOTICES = ':notices';

/** The name of a merchant's lane for notices; that of its PAID events is its id. */
export const noticeLaneOf = (merchantId: string): string => `${merchantId}${NOTICES}`;

export const isForNotices = (lane: string): boolean => lane.endsWith(NOTICES);

/** Whose lane it is. */
export const merchantOf = (lane: string): string => (isForNotices(lane) ? lane.slice(0, -NOTICES.length) : lane);

/** Both lanes of a merchant. */
export const lanesOf = (merchantId: string): string[] => [merchantId, noticeLaneOf(merchantId)];

/**
 * As makeLanesDueNow(), for merchants' lanes for notices, which begin with the state of the account and the pace of the receiver as
 * the other lane has them.
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
     on conflict (merchant_id) do update set next_due_at = greatest(excluded.next_due_at, lane.open_until)
      where lane.next_due_at is null or lane.next_due_at > greatest(excluded.next_due_at, lane.open_until)`,
    [unique.map(noticeLaneOf), unique],
  );
}

/**
 * Makes sure that lanes are claimed now, or when their open circuits may be probed. It is the last statement of its transaction,
 * because it waits for claims of the lanes and then keeps others from claiming them. A lane that is due early enough is only locked,
 * which is all that a concurrent claim has to wait for. The rows are locked in order, so that two batches do not deadlock.
 */
export async function makeLanesDueNow(tx: Transaction, merchantIds: readonly string[]): Promise<void> {
  if (merchantIds.length === 0) return;
  await tx.query(
    `insert into lane (merchant_id, next_due_at)
     select merchant_id, now() from unnest($1::text[]) as m(merchant_id) order by merchant_id
     on conflict (merchant_id) do update set next_due_at = greatest(excluded.next_due_at, lane.open_until)
      where lane.next_due_at is null or lane.next_due_at > greatest(excluded.next_due_at, lane.open_until)`,
    [[...new Set(merchantIds)]],
  );
}

/** Makes sure that lanes are claimed when their moved deliveries are due. The caller has locked them. */
export async function makeLanesDue(
  tx: Transaction,
  due: readonly { merchant_id: string; next_attempt_at: Date }[],
): Promise<void> {
  if (due.length === 0) return;
  await tx.query(
    `update lane l
        set next_due_at = least(l.next_due_at,
                                -- Released deliveries of an open circuit wait with it. A released probe does not.
                                case l.circuit_state when 'half_open' then due.due_at else greatest(due.due_at, l.open_until) end)
       from (select merchant_id, min(due_at) as due_at from unnest($1::text[], $2::timestamptz[]) as d(merchant_id, due_at)
              group by merchant_id) due
      where l.merchant_id = due.merchant_id`,
    [due.map((row) => row.merchant_id), due.map((row) => row.next_attempt_at)],
  );
}

/**
 * Holds the deliveries of a blocked account, or releases them; only the newest status counts. The time on hold was not the receiver's
 * fault, so a release starts the time after which a failing receiver's events are given up again.
 * @returns false when this status, or a newer one, was applied before.
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
 * Locks lanes, in order, so that two transactions do not deadlock. Claims of these lanes that were running have ended then, and later
 * claims see everything that this transaction does.
 */
export async function lockLanes(tx: Transaction, merchantIds: readonly string[]): Promise<void> {
  await tx.query('select from lane where merchant_id = any($1) order by merchant_id for update', [merchantIds]);
}

/** Lets open circuits be probed at once, because a person reports that the receiver is back, or has changed a key or URL. */
export async function probeLanesNow(tx: Transaction, lanes: readonly string[]): Promise<void> {
  await tx.query(
    `update lane set open_until = now(), next_due_at = now() where merchant_id = any($1) and open_until is not null`,
    [lanes],
  );
}

/** Starts the time after which a failing receiver's events are given up again: what failed until now was at another URL. */
export async function restartGiveUp(tx: Transaction, lanes: readonly string[]): Promise<void> {
  await tx.query(`update lane set failing_since = now() where merchant_id = any($1) and failing_since is not null`, [
    lanes,
  ]);
}

/** Opens the circuits of lanes to which nothing can be sent for a reason on our side. */
export async function openLaneCircuits(
  db: Queryable,
  merchantIds: ReadonlySet<string>,
  seconds: number,
): Promise<void> {
  await db.query(
    `update lane l
        set circuit_state = 'open', open_until = now() + make_interval(secs => $2), recovery_limit = null,
            next_due_at = now() + make_interval(secs => $2), error_category = 'interrupted'
       from (select merchant_id from lane where merchant_id = any($1) order by merchant_id for update) locked
      where l.merchant_id = locked.merchant_id`,
    [[...merchantIds], seconds],
  );
}

/** Has lanes with an attempt that takes long share the slow lanes' places, in every process, before it has ended. */
export async function markLanesSlow(db: Queryable, merchantIds: readonly string[]): Promise<void> {
  await db.query(
    `update lane l set pace = 'slow'
       from (select merchant_id from lane where merchant_id = any($1) and pace <> 'slow' order by merchant_id for update) locked
      where l.merchant_id = locked.merchant_id`,
    [merchantIds],
  );
}
