import { longStatement } from '@quittance/postgres/long-statement.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { statusesBefore } from '../state.ts';
import { isChosenSql } from './gate.ts';
import { isUnfinishedSql, type MovedPayment, paymentColumns, type PaymentRow } from './payment.ts';

/** A payment that is due, and how often in a row it could not be settled by itself. */
export type OverduePayment = PaymentRow & { expiry_failures: number };

/**
 * Claims unfinished payments of a network that are past their expiry, the longest overdue first. Until the lease ends no other
 * replica gets them; the lease of a replica that dies lapses by itself.
 * @param claim.expiredBy leaves out what expires after this time.
 * @param claim.since no unfinished payment expires before it: the index entries of those that were, which vacuum may not remove
 *   while somebody reads for hours, are not passed.
 */
export async function claimOverdue(
  db: Queryable,
  network: string,
  { since, expiredBy, limit, leaseMs }: { since: Date; expiredBy: Date; limit: number; leaseMs: number },
): Promise<OverduePayment[]> {
  const { rows } = await db.query<OverduePayment>(
    `update payment set expiry_check_at = now() + $3 * interval '1 millisecond'
      where ctid = any (array(
        select ctid from payment
         where network = $1 and ${isUnfinishedSql} and expires_at >= $5 and expires_at <= least(now(), $4)
           and expiry_check_at <= now()
         order by expires_at limit $2
           for update skip locked))
      returning ${paymentColumns}, coalesce(expiry_failures, 0) as expiry_failures`,
    [network, limit, leaseMs, expiredBy, since],
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

/** Ends the lease of a payment that could not be settled by itself. Its pause doubles each time, less up to half of it by chance. */
export async function pauseFailedExpiry(db: Queryable, paymentId: string): Promise<void> {
  await db.query(
    `update payment set expiry_failures = coalesce(expiry_failures, 0) + 1,
       expiry_check_at = now() + least($3, $2 * 2 ^ least(coalesce(expiry_failures, 0), 20)) * (0.5 + random() / 2) * interval '1 millisecond'
      where payment_id = $1 and ${isUnfinishedSql}`,
    [paymentId, FAILURE_PAUSE.firstMs, FAILURE_PAUSE.maxMs],
  );
}

/** Expires those that are still PENDING. @returns the expired ones, and when that was. */
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

/** A creation is committed, with an expiry that is at least a second away, within this time. */
const LATE_SECONDS = 60;
const WHOLE_INDEX_MS = 300_000;

/**
 * @param since as an earlier call returned it; null reads the whole index, which takes long while somebody reads for hours.
 * @returns how far the longest overdue unfinished payment of a network is past its expiry, in seconds, 0 without one; and `since`,
 *   before which no unfinished payment of the network expires; and how long the database read for it.
 */
export async function measureExpiryLag(
  tx: Transaction,
  network: string,
  since: Date | null,
): Promise<{ lag: number; since: Date; took_ms: number }> {
  const { rows } = await longStatement<{ lag: number; since: Date; took_ms: number }>(tx, WHOLE_INDEX_MS, {
    text: `select coalesce(greatest(0, extract(epoch from now() - oldest)), 0)::float8 as lag,
             least(oldest, now() - make_interval(secs => $3)) as since,
             (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)::float8 as took_ms
             from (select min(expires_at) as oldest from payment
                    where network = $1 and ${isUnfinishedSql} and expires_at >= coalesce($2::timestamptz, '-infinity')) as payments`,
    values: [network, since, LATE_SECONDS],
  });
  const [measured] = rows;
  if (measured === undefined) throw new Error('the aggregate of the unfinished payments has no row');
  return measured;
}
