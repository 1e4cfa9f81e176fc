import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

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
 * Holds the deliveries of a blocked account, or releases them; only the newest status counts.
 * @returns false when this status, or a newer one, was applied before.
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
 * Locks lanes, in order, so that two transactions do not deadlock. Claims of these lanes that were running have ended then, and later
 * claims see everything that this transaction does.
 */
export async function lockLanes(tx: Transaction, merchantIds: readonly string[]): Promise<void> {
  await tx.query('select from lane where merchant_id = any($1) order by merchant_id for update', [merchantIds]);
}

/** Lets an open circuit be probed at once, because a person reports that the receiver is back, or has changed a key. */
export async function probeLaneNow(tx: Transaction, merchantId: string): Promise<void> {
  await tx.query(
    `update lane set open_until = now(), next_due_at = now() where merchant_id = $1 and open_until is not null`,
    [merchantId],
  );
}

/** Closes the circuit and forgets its failures, because the lane leads to another receiver now. */
export async function resetLaneCircuit(tx: Transaction, merchantId: string): Promise<void> {
  await tx.query(
    `update lane
        set circuit_state = 'closed', open_until = null, recovery_limit = null, times_opened = 0,
            failures = 0, failing_since = null, next_due_at = now()
      where merchant_id = $1 and (failures > 0 or circuit_state <> 'closed')`,
    [merchantId],
  );
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
