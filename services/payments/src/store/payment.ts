import type { PaymentStatus } from '@quittance/contracts/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { statusesBefore } from '../state.ts';

/** A row of `payment`, without what only indexes and loops look at. */
export type PaymentRow = {
  payment_id: string;
  merchant_id: string;
  public_token: string;
  status: PaymentStatus;
  network: string;
  /** Canonical address. */
  recipient: string;
  amount: string;
  /** Millionths of a USDT. */
  amount_units: bigint;
  description: string;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  cancelled_at: Date | null;
};

/** Only one unfinished payment may wait for an amount on an address. */
export type Slot = { network: string; recipient: string; amountUnits: bigint };

export const paymentColumns = `payment_id, merchant_id, public_token, status, network, recipient, amount, amount_units, description,
  created_at, expires_at, paid_at, cancelled_at`;

/**
 * Cancels a payment of this merchant that still waits. The status guard lets one of a racing cancel and transfer win.
 * @returns null when it is another merchant's, unknown, or no longer PENDING.
 */
export async function cancelPayment(db: Queryable, merchantId: string, paymentId: string): Promise<PaymentRow | null> {
  const { rows } = await db.query<PaymentRow>(
    `update payment set status = 'CANCELLED', cancelled_at = date_trunc('milliseconds', clock_timestamp())
      where payment_id = $1 and merchant_id = $2 and status = any($3)
      returning ${paymentColumns}`,
    [paymentId, merchantId, statusesBefore('CANCELLED')],
  );
  return rows[0] ?? null;
}

/**
 * Moves a payment on, if its status still allows it.
 * @returns the moved payment, or null when a race was lost.
 */
export async function movePayment(
  tx: Transaction,
  paymentId: string,
  to: 'PENDING' | 'CHECKING' | 'PAID',
): Promise<PaymentRow | null> {
  const { rows } = await tx.query<PaymentRow>(
    `update payment
        set status = $2, paid_at = case when $2 = 'PAID' then date_trunc('milliseconds', clock_timestamp()) end
      where payment_id = $1 and status = any($3)
      returning ${paymentColumns}`,
    [paymentId, to, statusesBefore(to)],
  );
  return rows[0] ?? null;
}
