import { formatUnits, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { findNearMisses, hasNeighbourAsking } from '../queries/arrived.ts';
import { tokenUnitsOf } from '../settlement/decision.ts';
import { isCloseAmount } from '../settlement/payment-window.ts';
import type { PaymentRow } from '../store/payment.ts';

/**
 * Money that a PENDING payment's customer has probably sent in another amount, for the page to say so. Probably is not enough where several
 * wait on one wallet: what one of them is told would be about another's money. So of all payments that were unfinished there at the block's
 * time this one alone must fit, and one fits where the transfer carries from half to twice its amount.
 */
export async function findArrived(db: Queryable, payment: PaymentRow): Promise<{ amount: string } | null> {
  if (payment.status !== 'PENDING') return null;
  for (const transfer of await findNearMisses(db, payment.payment_id)) {
    const units = BigInt(transfer.amount_units);
    if (!isCloseAmount(units, tokenUnitsOf(payment, transfer))) continue;
    // Whom else it fits, in the payments' own units. Rounded so that none of them is left out.
    const unit = toTokenUnits(1n, transfer.decimals);
    const range = { least: units / (2n * unit), most: (2n * units) / unit + 1n };
    if (await hasNeighbourAsking(db, payment, transfer.block_timestamp, range)) continue;
    return { amount: formatUnits(units, transfer.decimals) };
  }
  return null;
}
