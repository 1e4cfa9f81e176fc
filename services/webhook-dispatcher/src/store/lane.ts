import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

/** As `makeLanesDueNow`, for one lane. */
export async function makeLaneDue(tx: Transaction, merchantId: string): Promise<void> {
  await makeLanesDueNow(tx, [merchantId]);
}

/**
 * Makes sure that lanes are looked at now, or when they are opened again. It is the last statement of its transaction, because it
 * queues behind the lanes' claims and keeps others from being claimed. A lane that is looked at early enough is only locked, which
 * is all that a claim at the same moment has to wait for. The rows are locked in order, so that two batches which share lanes do
 * not wait for each other.
 */
export async function makeLanesDueNow(tx: Transaction, merchantIds: readonly string[]): Promise<void> {
  if (merchantIds.length === 0) return;
  await tx.query(
    `insert into lane (merchant_id, next_due_at)
     select merchant_id, now() from unnest($1::text[]) as m(merchant_id) order by merchant_id
     on conflict (merchant_id) do update set next_due_at = greatest(excluded.next_due_at, lane.closed_until)
      where lane.next_due_at is null or lane.next_due_at > greatest(excluded.next_due_at, lane.closed_until)`,
    [[...new Set(merchantIds)]],
  );
}

/** Makes sure that lanes are looked at when their moved deliveries are due. The caller has locked them. */
export async function makeLanesDue(
  tx: Transaction,
  due: readonly { merchant_id: string; next_attempt_at: Date }[],
): Promise<void> {
  if (due.length === 0) return;
  await tx.query(
    `update lane l
        set next_due_at = least(l.next_due_at,
                                -- What is given back of a closed lane waits with it, but for the event that it was to be tried with.
                                case when l.recovering_cap = 1 then due.due_at else greatest(due.due_at, l.closed_until) end)
       from (select merchant_id, min(due_at) as due_at from unnest($1::text[], $2::timestamptz[]) as d(merchant_id, due_at)
              group by merchant_id) due
      where l.merchant_id = due.merchant_id`,
    [due.map((row) => row.merchant_id), due.map((row) => row.next_attempt_at)],
  );
}

/**
 * Holds the deliveries of a blocked account, or lets them go; only the newest status counts.
 * @returns false when this status, or a newer one, was heard before.
 */
export async function holdLane(
  tx: Transaction,
  lane: { merchantId: string; held: boolean; statusVersion: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into lane (merchant_id, held, status_version) values ($1, $2, $3)
     on conflict (merchant_id) do update set held = excluded.held, status_version = excluded.status_version
      where lane.status_version < excluded.status_version`,
    [lane.merchantId, lane.held, lane.statusVersion],
  );
  return rowCount === 1;
}

/**
 * Locks lanes, in order, so that two transactions which share lanes do not wait for each other. Claims of them that are under way
 * have ended then, and whatever is claimed later sees all of this transaction.
 */
export async function lockLanes(tx: Transaction, merchantIds: readonly string[]): Promise<void> {
  await tx.query('select from lane where merchant_id = any($1) order by merchant_id for update', [merchantIds]);
}

/** Has a closed lane tried at once, because somebody says that its receiver is back or has changed a key. */
export async function tryLane(tx: Transaction, merchantId: string): Promise<void> {
  await tx.query(
    `update lane set closed_until = now(), next_due_at = now() where merchant_id = $1 and closed_until is not null`,
    [merchantId],
  );
}

/** Forgets what a lane's former receiver did. */
export async function openLane(tx: Transaction, merchantId: string): Promise<void> {
  await tx.query(
    `update lane
        set failures = 0, failing_since = null, closed_times = 0, closed_until = null, recovering_cap = null, next_due_at = now()
      where merchant_id = $1 and (failures > 0 or closed_until is not null or recovering_cap is not null)`,
    [merchantId],
  );
}

/** Closes lanes to which nothing can be sent for a reason on our side; one event of each is looked at after the rest. */
export async function restLanes(db: Queryable, merchantIds: ReadonlySet<string>, seconds: number): Promise<void> {
  await db.query(
    `update lane l
        set closed_until = now() + make_interval(secs => $2), next_due_at = now() + make_interval(secs => $2),
            recovering_cap = null, error_category = 'interrupted'
       from (select merchant_id from lane where merchant_id = any($1) order by merchant_id for update) locked
      where l.merchant_id = locked.merchant_id`,
    [[...merchantIds], seconds],
  );
}
