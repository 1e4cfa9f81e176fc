import type { Author } from '@quittance/contracts/author.ts';
import type { Cancellation } from '@quittance/contracts/http/payments/payments.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import type { PaymentRow } from './payment.ts';

/** Stores who cancelled a payment by hand. It has just become CANCELLED in this transaction. */
export async function insertCancellation(
  tx: Transaction,
  { payment_id, merchant_id, cancelled_at }: PaymentRow,
  { actor, reason }: Author,
): Promise<void> {
  await tx.query(
    `insert into payment_cancellation (payment_id, merchant_id, actor, reason, cancelled_at) values ($1, $2, $3, $4, $5)`,
    [payment_id, merchant_id, actor, reason, cancelled_at],
  );
}

/** @returns null for a payment that no operator cancelled. */
export async function findCancellation(
  db: Queryable,
  paymentId: string,
): Promise<WithDates<Cancellation, 'cancelled_at'> | null> {
  const { rows } = await db.query<WithDates<Cancellation, 'cancelled_at'>>(
    'select actor, reason, cancelled_at from payment_cancellation where payment_id = $1',
    [paymentId],
  );
  return rows[0] ?? null;
}
