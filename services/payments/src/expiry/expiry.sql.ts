import { longStatement } from '@quittance/postgres/long-statement.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { statusesBefore } from '../payment/state.ts';
import { isChosenSql } from '../gate/gate.sql.ts';
import { isUnfinishedSql, type MovedPayment, paymentColumns, type PaymentRow } from '../payment/payment.sql.ts';

/** An overdue payment, and how many times in a row it failed when it was settled alone. */
export type OverduePayment = PaymentRow & { expiry_failures: number };

/**
 * Where a network's unfinished payments are: the `overdue` ones are listed by id, and all others expire at or after `since`. Between the
 * two there may be any number of index entries of payments that have ended: vacuum cannot remove them during a read that lasts hours.
 */
export type UnfinishedBound = { since: Date; overdue: readonly string[] };

/** Written so that no partial index matches it: the planner may underestimate that index and read all its entries. */
const isUnfinishedByIdSql = `status not in ('PAID', 'EXPIRED', 'CANCELLED')`;

/**
 * Claims unfinished payments of a network that are past their expiry, the longest overdue first. No other replica gets them until the lease
 * ends; the lease of a replica that dies ends by itself.
 * @param claim.expiredBy leaves out payments that expire after this time.
 */
export async function claimOverdue(
  db: Queryable,
  network: string,
  { bound, expiredBy, limit, leaseMs }: { bound: UnfinishedBound; expiredBy: Date; limit: number; leaseMs: number },
): Promise<OverduePayment[]> {
  const isDue = `expires_at <= least(now(), $4) and expiry_check_at <= now()`;
  const { rows } = await db.query<OverduePayment>(
    `with known as materialized (
       select ctid from payment where payment_id = any($6) and ${isUnfinishedByIdSql} and ${isDue}
        order by expires_at limit $2 for update skip locked
     ), others as materialized (
       select ctid from payment where network = $1 and ${isUnfinishedSql} and expires_at >= $5 and ${isDue}
        order by expires_at limit $2 - (select count(*) from known) for update skip locked
     )
     update payment set expiry_check_at = now() + $3 * interval '1 millisecond'
      where ctid = any (array(select ctid from known union select ctid from others))
      returning ${paymentColumns}, coalesce(expiry_failures, 0) as expiry_failures`,
    [network, limit, leaseMs, expiredBy, bound.since, bound.overdue],
  );
  return rows.sort((a, b) => a.expires_at.getTime() - b.expires_at.getTime());
}

/** Ends the lease of payments about which the chain knows too little yet; they are due again after the pause. */
export async function postponeExpiry(db: Queryable, paymentIds: readonly string[], pauseMs: number): Promise<void> {
  await db.query(
    `update payment set expiry_check_at = now() + $2 * interval '1 millisecond', expiry_failures = null where payment_id = any($1) and ${isUnfinishedSql}`,
    [paymentIds, pauseMs],
  );
}

const FAILURE_PAUSE = { firstMs: 2_000, maxMs: 600_000 };

/**
 * Ends the lease of a payment that failed when it was settled alone. Its pause doubles each time, minus a random part of up to half of it.
 */
export async function pauseFailedExpiry(db: Queryable, paymentId: string): Promise<void> {
  await db.query(
    `update payment set expiry_failures = coalesce(expiry_failures, 0) + 1,
       expiry_check_at = now() + least($3, $2 * 2 ^ least(coalesce(expiry_failures, 0), 20)) * (0.5 + random() / 2) * interval '1 millisecond'
      where payment_id = $1 and ${isUnfinishedSql}`,
    [paymentId, FAILURE_PAUSE.firstMs, FAILURE_PAUSE.maxMs],
  );
}

/** Expires the payments that are still PENDING. @returns the expired ones, and the time of their expiry. */
export async function expirePayments(
  tx: Transaction,
  paymentIds: readonly string[],
): Promise<(MovedPayment & { closed_at: Date })[]> {
  const { rows } = await tx.query<MovedPayment & { closed_at: Date }>(
    `update payment set status = 'EXPIRED'
      where payment_id = any($1) and status = any($2) and expires_at <= now()
      returning ${paymentColumns}, clock_timestamp() as closed_at, ${isChosenSql('EXPIRED')} as is_chosen`,
    [paymentIds, statusesBefore('EXPIRED')],
  );
  return rows;
}

/** A creation commits within this time, and its expiry is at least a second away. */
const LATE_SECONDS = 60;
/** How many are remembered by id. While more are overdue, few of the payments between them have ended. */
const REMEMBERED = 200;
const WHOLE_INDEX_MS = 300_000;

/**
 * @param bound as an earlier call returned it; null reads the whole index, which is slow while another transaction reads for hours.
 * @returns how many seconds the longest overdue unfinished payment of a network is past its expiry, 0 when there is none; where its
 *   unfinished payments are now; and how long the database took.
 */
export async function measureExpiryLag(
  tx: Transaction,
  network: string,
  bound: UnfinishedBound | null,
): Promise<{ lag: number; bound: UnfinishedBound; took_ms: number }> {
  const { rows } = await longStatement<UnfinishedBound & { lag: number; took_ms: number }>(tx, WHOLE_INDEX_MS, {
    text: `
      with present as (select now() - make_interval(secs => $4) as late
      ), known as materialized (
        select payment_id, expires_at from payment where payment_id = any($3) and ${isUnfinishedByIdSql}
      ), room as (select $5 - count(*) as places from known
      ), next as materialized (
        select payment_id, expires_at from payment
         where network = $1 and ${isUnfinishedSql} and expires_at >= coalesce($2::timestamptz, '-infinity')
           and expires_at < (select late from present)
         order by expires_at limit (select places from room)
      ), overdue as (select * from known union select * from next
      ), oldest as (
        select coalesce((select min(expires_at) from overdue),
                        (select min(expires_at) from payment
                          where network = $1 and ${isUnfinishedSql} and expires_at >= (select late from present))) as expires_at
      )
      select coalesce(greatest(0, extract(epoch from now() - (select expires_at from oldest))), 0)::float8 as lag,
             -- Fewer than the limit: these are all that expired before.
             case when (select count(*) from next) < (select places from room) then (select late from present)
                  else coalesce((select max(expires_at) from next), $2) end as since,
             array(select payment_id from overdue) as overdue,
             (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)::float8 as took_ms`,
    values: [network, bound?.since ?? null, bound?.overdue ?? [], LATE_SECONDS, REMEMBERED],
  });
  const [measured] = rows;
  if (measured === undefined) throw new Error('the lag of the unfinished payments returned no row');
  const { since, overdue, ...rest } = measured;
  return { ...rest, bound: { since, overdue } };
}

/** @returns the networks other than these that have unfinished payments, with one index step for each network. */
export async function findUnreadNetworks(db: Queryable, enabled: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with recursive network (id) as (
       (select network from payment where ${isUnfinishedSql} order by network limit 1)
       union all
       select (select p.network from payment p where ${isUnfinishedSql} and p.network > network.id order by p.network limit 1)
         from network where network.id is not null)
     select id from network where id <> all ($1)`,
    [enabled],
  );
  return rows.map(({ id }) => id);
}

/** How long payments on a network that no service reads are kept waiting: the networks file may be wrong. */
const UNREAD_GRACE = '24 hours';
const UNREAD_AT_ONCE = 100;

/** Expires payments on networks that no service reads. @returns the payments that are EXPIRED now, and when that happened. */
export async function expireUnread(
  tx: Transaction,
  networks: readonly string[],
): Promise<(MovedPayment & { closed_at: Date })[]> {
  const { rows } = await tx.query<MovedPayment & { closed_at: Date }>(
    `update payment set status = 'EXPIRED'
      where payment_id = any (array(
              select payment_id from payment
               where network = any($1) and ${isUnfinishedSql} and status = any($2) and expires_at < now() - interval '${UNREAD_GRACE}'
               order by expires_at limit ${UNREAD_AT_ONCE} for update skip locked))
      returning ${paymentColumns}, clock_timestamp() as closed_at, ${isChosenSql('EXPIRED')} as is_chosen`,
    [networks, statusesBefore('EXPIRED')],
  );
  return rows;
}
