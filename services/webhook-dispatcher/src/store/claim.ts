import { randomUUID } from 'node:crypto';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { retryAborted, transaction } from '@quittance/postgres/transaction.ts';
import type { Pace } from '../state.ts';
import { isForNotices, lockLanes, makeLanesDue } from './lane.ts';
import { lockPaidOf, takeBackNotices, withPaidLanes } from './order.ts';

/** A delivery that this process may send until its lease lapses, with the endpoint and key as they are now. */
export type Claimed = {
  event_id: string;
  /** Of its lane: the merchant's id, for notices with more behind it. */
  merchant_id: string;
  lease_id: string;
  cycle: number;
  /** Attempts of this cycle that ended before. */
  attempts: number;
  /** True when an earlier lease on it lapsed. */
  lapsed: boolean;
  body: Buffer;
  /** W3C traceparent of the span in which the event was written; null where that is not exported. */
  traceparent: string | null;
  /** When the event was written. */
  created_at: Date;
  url: string;
  host: string;
  key_id: string;
  secret_encrypted: Buffer;
  encryption_key_id: string;
  /** Of its lane. */
  pace: Pace;
};

export type ClaimBounds = {
  /** Deliveries in all. */
  room: number;
  /**
   * Which lanes are looked at, those first that are to have the room first: `room` is what all lanes of the pace together may get,
   * `perLane` what one of them may have in flight.
   */
  paces: readonly { pace: Pace; room: number; perLane: number }[];
  /** What each lane has in flight already, by merchant id. */
  inFlight: Readonly<Record<string, number>>;
  /** Attempts one host may get, where `hosts` has no entry. */
  perHost: number;
  /**
   * Hosts that may get fewer. A host with a pause gets none before it is over, and the lanes that lead there are put off. Lanes of a
   * host without room keep their place, because room may come at any time.
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

/** More wait for the next claim; each stays a few milliseconds long. */
const MAX_DELIVERIES = 256;
const MAX_LANES = 64;
const MIN_LANES = 16;
/** When much is due most lanes give several, and each lane that is locked for nothing costs as much as a delivery. */
const DELIVERIES_A_LANE = 4;
type Rows = [{ more: boolean; database_now: Date }, ...Omit<Claimed, 'lease_id'>[]];

/**
 * Leases due deliveries to this process, a few of each due lane.
 * Lanes whose deliveries have all ended are claimed once more without a result. Many of those must not hide one that has something to
 * send: then, too, there may be more.
 */
export async function claimDeliveries(pool: Pool, bounds: ClaimBounds): Promise<Claim> {
  const room = Math.min(MAX_DELIVERIES, bounds.room);
  const lanes = Math.min(MAX_LANES, Math.max(MIN_LANES, Math.ceil(room / DELIVERIES_A_LANE)));
  const paces = bounds.paces.map(({ pace, perLane, room: ofPace }) => {
    const limit = Math.min(perLane, ofPace);
    // New lanes, and slow ones, begin one after the other.
    return pace === 'quick' ? { pace, lanes, limit, most: limit } : { pace, lanes: 1, limit, most: 1 };
  });
  const leaseId = randomUUID();
  // Late settlements of lapsed leases may lock rows in another order than a claim does.
  const { rows } = await retryAborted(() =>
    pool.query(
      `select * from claim_deliveries(max_deliveries => $1::int, paces => $2::jsonb, host_limit => $3::int,
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
 * Releases deliveries whose POST has not started: no attempt, no interruption, due again after the pause. Notices whose payments have become
 * PAID are taken back.
 */
export async function releaseDeliveries(
  pool: Pool,
  claimed: readonly { event_id: string; lease_id: string; merchant_id: string }[],
  pauseSeconds: number,
): Promise<void> {
  if (claimed.length === 0) return;
  await transaction(pool, async (tx) => {
    const notices = claimed.filter((c) => isForNotices(c.merchant_id));
    const paid = await lockPaidOf(
      tx,
      notices.map((c) => c.event_id),
    );
    // As everywhere, lanes before deliveries.
    const lanes = claimed.map((c) => c.merchant_id);
    await lockLanes(tx, paid.length === 0 ? lanes : withPaidLanes(lanes));
    const { rows } = await tx.query<{ merchant_id: string; next_attempt_at: Date }>(
      `update delivery d set lease_id = null, next_attempt_at = now() + make_interval(secs => $3)
         from (select event_id from delivery where event_id = any($1) order by event_id for update) locked
         join unnest($1::text[], $2::uuid[]) as c(event_id, lease_id) using (event_id)
        where d.event_id = locked.event_id and d.lease_id = c.lease_id
       returning d.merchant_id, d.next_attempt_at`,
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
