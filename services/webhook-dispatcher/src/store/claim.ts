import { randomUUID } from 'node:crypto';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { makeLanesDue } from './lane.ts';

/** A delivery that this process may send until its lease lapses, with the endpoint and key as they are now. */
export type Claimed = {
  event_id: string;
  merchant_id: string;
  lease_id: string;
  cycle: number;
  /** Attempts of this cycle that ended before. */
  attempts: number;
  /** True when an earlier lease on it lapsed. */
  lapsed: boolean;
  body: Buffer;
  url: string;
  host: string;
  key_id: string;
  secret_encrypted: Buffer;
  encryption_key_id: string;
};

export type ClaimBounds = {
  /** Deliveries in all. */
  room: number;
  /** Attempts in flight a lane may have. */
  perLane: number;
  /** What each lane has in flight already. */
  inFlight: { merchantIds: readonly string[]; counts: readonly number[] };
  /** Lanes that lead to these are left alone. */
  fullHosts: readonly string[];
  leaseSeconds: number;
};

/** More lanes wait for the next claim; each claim stays a few milliseconds long. */
const MAX_LANES = 64;

/**
 * Takes due deliveries, a few of each due lane, and leases them to this process.
 * Nothing waits for a lock here: a lane or delivery that somebody else works on is passed by.
 * @returns what was claimed, and whether another claim may find more. Lanes whose deliveries have all ended come up once more before
 *   they are put aside, and many of those must not hide one that has something to send.
 */
export async function claimDeliveries(pool: Pool, bounds: ClaimBounds): Promise<{ claimed: Claimed[]; more: boolean }> {
  return transaction(pool, async (tx) => {
    const maxLanes = Math.min(MAX_LANES, bounds.room);
    const lanes = await lockDueLanes(tx, bounds, maxLanes);
    if (lanes.length === 0) return { claimed: [], more: false };
    // A statement of its own, with a snapshot taken after the lanes are locked: an event that came in between is in it, and
    // one that comes later waits for our lock before it moves the lane. With one statement for both, it could be forgotten.
    const claimed = await leaseDeliveries(tx, lanes, bounds);
    await scheduleLanes(tx, lanes);
    return { claimed, more: claimed.length > 0 || lanes.length === maxLanes };
  });
}

type DueLane = { merchant_id: string; room: number };

async function lockDueLanes(tx: Transaction, bounds: ClaimBounds, maxLanes: number): Promise<DueLane[]> {
  const { rows } = await tx.query<DueLane>(
    `select l.merchant_id, $1::int - coalesce(b.in_flight, 0) as room
       from lane l
       join endpoint e on e.merchant_id = l.merchant_id
       left join unnest($2::text[], $3::int[]) as b(merchant_id, in_flight) on b.merchant_id = l.merchant_id
      where l.next_due_at <= now() and not l.held
        and coalesce(b.in_flight, 0) < $1::int and e.host <> all($4::text[])
      order by l.next_due_at
      limit $5
        for update of l skip locked`,
    [bounds.perLane, bounds.inFlight.merchantIds, bounds.inFlight.counts, bounds.fullHosts, maxLanes],
  );
  return rows;
}

async function leaseDeliveries(tx: Transaction, lanes: DueLane[], bounds: ClaimBounds): Promise<Claimed[]> {
  const { rows } = await tx.query<Claimed>(
    `with due as (
       select d.event_id, d.lapsed
         from unnest($1::text[], $2::int[]) as r(merchant_id, room)
        cross join lateral (
          select event_id, lease_id is not null as lapsed from delivery
           where merchant_id = r.merchant_id and status = 'pending' and next_attempt_at <= now()
           order by next_attempt_at
           limit r.room
             for update skip locked
        ) d
        limit $3
     ), leased as (
       update delivery d
          set lease_id = $4, next_attempt_at = now() + make_interval(secs => $5),
              interruptions = d.interruptions + due.lapsed::int,
              error_category = case when due.lapsed then 'interrupted' else d.error_category end
         from due where d.event_id = due.event_id
       returning d.event_id, d.merchant_id, d.lease_id, d.cycle, d.attempts, due.lapsed
     )
     select leased.*, event.body, endpoint.url, endpoint.host, k.key_id, k.secret_encrypted, k.encryption_key_id
       from leased
       join event on event.event_id = leased.event_id
       join endpoint on endpoint.merchant_id = leased.merchant_id
       join signing_key k on k.key_id = endpoint.active_key_id`,
    [lanes.map((l) => l.merchant_id), lanes.map((l) => l.room), bounds.room, randomUUID(), bounds.leaseSeconds],
  );
  return rows;
}

/** A lane that still has something due goes behind the others that wait. */
async function scheduleLanes(tx: Transaction, lanes: DueLane[]): Promise<void> {
  await tx.query(
    `update lane l set next_due_at = case when due.at is not null then greatest(due.at, now()) end
       from (select merchant_id, (select min(next_attempt_at) from delivery
                                   where merchant_id = m.merchant_id and status = 'pending') as at
               from unnest($1::text[]) as m(merchant_id)) due
      where l.merchant_id = due.merchant_id`,
    [lanes.map((lane) => lane.merchant_id)],
  );
}

/** Hands back deliveries whose POST has not begun: no attempt, no interruption, due again after the pause. */
export async function releaseDeliveries(
  pool: Pool,
  claimed: readonly { event_id: string; lease_id: string }[],
  pauseSeconds: number,
): Promise<void> {
  if (claimed.length === 0) return;
  await transaction(pool, async (tx) => {
    const { rows } = await tx.query<{ merchant_id: string; next_attempt_at: Date }>(
      `update delivery d set lease_id = null, next_attempt_at = now() + make_interval(secs => $3)
         from (select event_id from delivery where event_id = any($1) order by event_id for update) locked
         join unnest($1::text[], $2::uuid[]) as c(event_id, lease_id) using (event_id)
        where d.event_id = locked.event_id and d.lease_id = c.lease_id
       returning d.merchant_id, d.next_attempt_at`,
      [claimed.map((c) => c.event_id), claimed.map((c) => c.lease_id), pauseSeconds],
    );
    await makeLanesDue(tx, rows);
  });
}
