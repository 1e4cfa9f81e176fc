import { formatUnits } from '@quittance/contracts/amount.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { findNearestCandidate } from '../queries/arrived.ts';
import type { PaymentRow } from '../store/payment.ts';

/**
 * Money at a payment's address that its customer may have sent, for the page to say so: while the payment waits, and for 24 hours after it
 * ended unpaid. Every payment that the money may be for says it, because whose it is nobody knows.
 */
export async function findArrived(db: Queryable, payment: PaymentRow): Promise<{ amount: string } | null> {
  if (payment.status === 'PAID' || payment.status === 'CHECKING') return null;
  const found = await findNearestCandidate(db, payment);
  return found && { amount: formatUnits(BigInt(found.amount_units), found.decimals) };
}
