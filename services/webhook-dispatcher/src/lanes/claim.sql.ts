import { randomUUID } from 'node:crypto';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { retryAborted, transaction } from '@quittance/postgres/transaction.ts';
import type { SealedSecret } from '@quittance/runtime/key-vault.ts';
import { type Pace, statusesBefore } from '../state.ts';
import { isForNotices, lockLanes, makeLanesDue } from './lane.sql.ts';
import { lockPaidOf, takeBackNotices, withPaidLanes } from '../events/event.sql.ts';
import type { ErrorCategory } from '@quittance/contracts/webhook.ts';

/** A delivery that this process may send until its lease expires, with the current endpoint and key. */
export type Claimed = {
  event_id: string;
  lane_id: string;
  lease_id: string;
  cycle: number;
  /** Earlier attempts of this cycle. */
  attempts: number;
  /** Whether an earlier lease on it expired. */
  lapsed: boolean;
  body: Buffer;
  /** W3C traceparent of the span that wrote the event; null if it is not exported. */
  traceparent: string | null;
  /** When the event was written. */
  created_at: Date;
  url: string;
  host: string;
  key_id: string;
  /** The pace of its lane. */
  pace: Pace;
} & SealedSecret;

export type ClaimBounds = {
  /** Deliveries in total. */
  room: number;
  /**
   * Paces to claim, in the order in which they share the room. `room` limits all lanes of the pace together, `perLane` the attempts of one
   * lane in flight.
   */
  paces: readonly { pace: Pace; room: number; perLane: number }[];
  /** Attempts in flight, by lane. */
  inFlight: Readonly<Record<string, number>>;
  /** Limit for a host without an entry in `hosts`. */
  perHost: number;
  /**
   * Hosts with a lower limit. A host gets nothing during its pause, and its lanes are put off. Lanes of a host without room keep their place,
   * because it may have room soon.
   */
  hosts: Readonly<Record<string, { room: number; pause_seconds: number }>>;
  leaseSeconds: number;
};

export type Claim = {
  claimed: Claimed[];
  /** Whether another claim may find more. */
  more: boolean;
  /** The database's clock. */
  databaseNow: Date;
};

/** Limits that keep a claim at a few milliseconds. The rest waits for the next one. */
const MAX_DELIVERIES = 256;
const MAX_LANES = 64;
const MIN_LANES = 16;
/** With a large backlog most lanes have several due deliveries, and locking a lane for nothing costs as much as a delivery. */
const DELIVERIES_A_LANE = 4;
type Rows = [{ more: boolean; database_now: Date }, ...Omit<Claimed, 'lease_id'>[]];
/** The functions and tables still call a lane's id `merchant_id`, as processes of 0.2.0 do. */

/**
 * Leases due deliveries to this process, a few of each due lane.
 * Lanes whose deliveries have all ended are claimed once more without a result. Many of them must not hide a lane with due deliveries, so
 * `more` is true after them too.
 */
export async function claimDeliveries(pool: Pool, bounds: ClaimBounds): Promise<Claim> {
  const room = Math.min(MAX_DELIVERIES, bounds.room);
  const lanes = Math.min(MAX_LANES, Math.max(MIN_LANES, Math.ceil(room / DELIVERIES_A_LANE)));
  const paces = bounds.paces.map(({ pace, perLane, room: ofPace }) => {
    const limit = Math.min(perLane, ofPace);
    // One new or slow lane, with one delivery, in each claim.
    return pace === 'quick' ? { pace, lanes, limit, most: limit } : { pace, lanes: 1, limit, most: 1 };
  });
  const leaseId = randomUUID();
  // Late settlements of expired leases may lock rows in a different order.
  const { rows } = await retryAborted(() =>
    pool.query(
      `select *, merchant_id as lane_id from claim_deliveries(max_deliveries => $1::int, paces => $2::jsonb, host_limit => $3::int,
                                      in_flight => $4::jsonb, host_limits => $5::jsonb, lease => $6::uuid,
                                      lease_seconds => $7::float8)`,
      [
        ...[room, JSON.stringify(paces), bounds.perHost, JSON.stringify(bounds.inFlight), JSON.stringify(bounds.hosts)],
        ...[leaseId, bounds.leaseSeconds],
      ],
    ),
  );
  const [{ more, database_now: databaseNow }, ...due] = rows as unknown as Rows;
  return { claimed: due.map((row) => ({ ...row, lease_id: leaseId })), more, databaseNow };
}

/**
 * Releases deliveries whose POST has not started: no attempt, no interruption, due again after the pause. Withdraws notices whose payments have
 * become PAID.
 */
export async function releaseDeliveries(
  pool: Pool,
  claimed: readonly { event_id: string; lease_id: string; lane_id: string }[],
  pauseSeconds: number,
): Promise<void> {
  if (claimed.length === 0) return;
  await transaction(pool, async (tx) => {
    const notices = claimed.filter((c) => isForNotices(c.lane_id));
    const paid = await lockPaidOf(
      tx,
      notices.map((c) => c.event_id),
    );
    // As everywhere, lanes before deliveries.
    const lanes = claimed.map((c) => c.lane_id);
    await lockLanes(tx, paid.length === 0 ? lanes : withPaidLanes(lanes));
    const { rows } = await tx.query<{ lane_id: string; next_attempt_at: Date }>(
      `update delivery d set lease_id = null, next_attempt_at = now() + make_interval(secs => $3)
         from (select event_id from delivery where event_id = any($1) order by event_id for update) locked
         join unnest($1::text[], $2::uuid[]) as c(event_id, lease_id) using (event_id)
        where d.event_id = locked.event_id and d.lease_id = c.lease_id
       returning d.merchant_id as lane_id, d.next_attempt_at`,
      [claimed.map((c) => c.event_id), claimed.map((c) => c.lease_id), pauseSeconds],
    );
    await makeLanesDue(tx, rows);
    await takeBackNotices(tx, paid);
  });
}

/** The database's clock, without a claim. */
export async function readDatabaseTime(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
  const [row] = rows;
  if (row === undefined) throw new Error('select clock_timestamp() returned no row');
  return row.now;
}

/** The outcome of one attempt, as settle_attempts() reads it. */
export type Outcome = Pick<Claimed, 'event_id' | 'lane_id' | 'lease_id' | 'cycle' | 'key_id'> & {
  /** Number of the attempt in its cycle, from 1. */
  n: number;
  /** On the database's clock. With event and lease it identifies the attempt, so that storing it twice has no effect. */
  started_at: Date;
  duration_ms: number;
  http_status: number | null;
  /** Null for a 2xx. */
  error_category: ErrorCategory | null;
  remote_ip: string | null;
  /** Null if no retry is left. Not used after a 2xx. */
  retry_delay_seconds: number | null;
  /** The lane's pace when the attempt ended. */
  pace: Pace;
};

/** When the circuit of a failing receiver opens, and when it closes again. */
export type CircuitPolicy = {
  /** Failures without a success, if the first is at least `openAfterSeconds` old; or ten times as many at any age. */
  openAfter: number;
  openAfterSeconds: number;
  /** It opens for 1 s, and after each failed probe for twice as long, up to this. */
  longestOpenSeconds: number;
  /** A recovering lane may have 2 attempts in flight, and twice as many after each success. At this number it counts as healthy. */
  recoveredAt: number;
};

/**
 * Stores the outcomes of attempts, all or none. A 2xx counts even after its lease has expired; a failure counts only under its own lease. All
 * times are the database's, so a process with a wrong clock cannot make an event look late. Storing the same outcomes again changes no
 * delivery, so a caller that does not know whether a commit succeeded repeats it.
 */
export async function settleAttempts(pool: Pool, outcomes: readonly Outcome[], policy: CircuitPolicy): Promise<void> {
  const delivered = new Set(outcomes.filter((o) => o.error_category === null).map((o) => o.event_id));
  const sorted = outcomes
    // In one order, so that two batches with the same events do not deadlock.
    .toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1))
    // A 2xx in the batch overrides the event's failures.
    .map(({ lane_id: merchant_id, ...o }) => ({
      ...o,
      merchant_id,
      decides: o.error_category === null || !delivered.has(o.event_id),
    }));
  await pool.query(
    `select settle_attempts(outcomes => $1::jsonb, before_delivered => $2::text[], before_failed => $3::text[],
                            open_after => $4::int, open_after_seconds => $5::float8, longest_open_seconds => $6::float8,
                            recovered_at => $7::int)`,
    [
      ...[JSON.stringify(sorted), statusesBefore('delivered'), statusesBefore('failed')],
      ...[policy.openAfter, policy.openAfterSeconds, policy.longestOpenSeconds, policy.recoveredAt],
    ],
  );
}
