import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { statusesBefore } from '../state.ts';
import { isUnfinishedSql, paymentColumns, type PaymentRow } from './payment.ts';

/**
 * Claims unfinished payments of a network that are past their expiry, the longest overdue first. Until the lease ends no other
 * replica gets them; the lease of a replica that dies lapses by itself.
 * @param claim.expiredBy leaves out what expires after this time.
 */
export async function claimOverdue(
  db: Queryable,
  network: string,
  { expiredBy, limit, leaseMs }: { expiredBy: Date; limit: number; leaseMs: number },
): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(
    `update payment set expiry_check_at = now() + $3 * interval '1 millisecond'
      where payment_id in (
        select payment_id from payment
         where network = $1 and ${isUnfinishedSql} and expires_at <= least(now(), $4) and expiry_check_at <= now()
         order by expires_at limit $2
           for update skip locked)
      returning ${paymentColumns}`,
    [network, limit, leaseMs, expiredBy],
  );
  return rows;
}

/** Ends the lease of payments about which the chain knows too little yet; they are due again after the pause. */
export async function postponeExpiry(db: Queryable, paymentIds: readonly string[], pauseMs: number): Promise<void> {
  await db.query(
    `update payment set expiry_check_at = now() + $2 * interval '1 millisecond' where payment_id = any($1) and ${isUnfinishedSql}`,
    [paymentIds, pauseMs],
  );
}

/** Expires those that are still PENDING. @returns the expired ones, and when that was. */
export async function expirePayments(
  tx: Transaction,
  paymentIds: readonly string[],
): Promise<(PaymentRow & { closed_at: Date })[]> {
  const { rows } = await tx.query<PaymentRow & { closed_at: Date }>(
    `update payment set status = 'EXPIRED'
      where payment_id = any($1) and status = any($2) and expires_at <= now()
      returning ${paymentColumns}, clock_timestamp() as closed_at`,
    [paymentIds, statusesBefore('EXPIRED')],
  );
  return rows;
}

/** @returns how far the longest overdue unfinished payment of a network is past its expiry, in seconds; 0 without one. */
export async function measureExpiryLag(db: Queryable, network: string): Promise<number> {
  const { rows } = await db.query<{ lag: number }>(
    `select coalesce(greatest(0, extract(epoch from now() - min(expires_at))), 0)::float8 as lag
       from payment where network = $1 and ${isUnfinishedSql}`,
    [network],
  );
  return rows[0]?.lag ?? 0;
}
