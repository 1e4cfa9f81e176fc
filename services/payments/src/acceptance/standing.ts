import type { Queryable } from '@quittance/postgres/pool.ts';
import { knownFrom, slotSearchOf } from '../settlement/decision.ts';
import { intervalOf, REST_MS, startOfNextSecond, waitedOrRested } from '../settlement/payment-window.ts';
import { type Candidate, findConcerned } from '../queries/candidates.ts';
import { findNewestOfSlot, type PaymentRow } from '../store/payment.ts';
import type { TransferRow } from '../store/transfer.ts';

/** Whose a transfer that pays nothing may be. */
export type Standing = {
  /** The payments that it may be for. */
  candidates: Candidate[];
  /** The merchants whom it concerns; at least one. */
  concerned: string[];
  /** A payment of another amount than this one's that waited for exactly what the transfer carries, or had ended less than 24 hours before. */
  exactFor: PaymentRow | null;
};

/** @param pair a payment that the transfer may be accepted for. A transfer that the ledger does not have has no candidates yet. */
export async function findStanding(
  db: Queryable,
  { payment, transfer }: { payment: PaymentRow; transfer: TransferRow },
): Promise<Standing> {
  const { candidates, concerned } = (await findConcerned(db, transfer)) ?? {
    candidates: [],
    concerned: [payment.merchant_id],
  };
  const slot = slotSearchOf(transfer);
  const isOther = slot !== null && slot.amountUnits !== payment.amount_units;
  const { from, to } = intervalOf(transfer);
  // Of payments that began after it was known it is none's amount, and they must not hide an earlier one.
  const createdBefore = new Date(Math.min(startOfNextSecond(to).getTime(), knownFrom(transfer)));
  const span = { endedAfter: new Date(from - REST_MS), createdBefore };
  const exact = isOther ? await findNewestOfSlot(db, slot, span) : null;
  return { candidates, concerned, exactFor: exact !== null && waitedOrRested(exact, transfer) ? exact : null };
}
