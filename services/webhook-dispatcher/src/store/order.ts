import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { isForNotices, lanesOf, merchantOf } from './lane.ts';

/**
 * Keeps PAID events of these payments from being stored until the transaction ends. It comes before the locks on lanes.
 * @returns those that have one.
 */
export async function lockPaid(tx: Transaction, paymentIds: readonly string[]): Promise<string[]> {
  if (paymentIds.length === 0) return [];
  return onlyPaid(await tx.query<{ paid: string[] }>('select lock_paid($1) as paid', [paymentIds]));
}

/** The same, of the payments whose PAID events overtake these events; others are ignored. */
export async function lockPaidOf(tx: Transaction, eventIds: readonly string[]): Promise<string[]> {
  if (eventIds.length === 0) return [];
  return onlyPaid(
    await tx.query<{ paid: string[] }>(
      `select lock_paid(array(
         select notice_payment_id from event
          where event_id = any($1) and notice_payment_id is not null and precedes_paid(event_type))) as paid`,
      [eventIds],
    ),
  );
}

const onlyPaid = ({ rows: [row] }: { rows: { paid: string[] }[] }): string[] => row?.paid ?? [];

/** Takes back what PAID events overtake and has not begun, and has them wait for what has: see sql/take_back_notices.sql. */
export async function takeBackNotices(tx: Queryable, paymentIds: readonly string[]): Promise<void> {
  if (paymentIds.length > 0) await tx.query('select take_back_notices($1)', [paymentIds]);
}

/** These lanes and, for each that is for notices, the other one of its merchant: what takeBackNotices() wants to be locked. */
export const withPaidLanes = (lanes: readonly string[]): string[] =>
  lanes.flatMap((lane) => (isForNotices(lane) ? lanesOf(merchantOf(lane)) : lane));
