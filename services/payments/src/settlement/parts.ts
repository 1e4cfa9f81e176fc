import type { PaymentRow } from '../payment/payment.sql.ts';
import { isUnfinished } from '../payment/state.ts';
import { areOneOrder } from './claim.ts';
import { type Decision, mayBeFor, slotAmountOf } from './decision.ts';
import type { Reached } from './parts.sql.ts';
import { cameAfterCancel, intervalOf, meets, wasKnownBefore, windowOf } from './payment-window.ts';
import type { TransferRow } from './transfer.sql.ts';

/** Whether a payment has its address for itself, so that all transfers to it count together. */
export const isDedicated = ({ rest_seconds: rest }: Pick<PaymentRow, 'rest_seconds'>): boolean => rest !== null;

/**
 * The time in which money on its address is a dedicated payment's: until the rest after its end is over. A payment that is paid during the
 * rest rests again. One that is accepted later gets nothing more: others may have had the address since.
 */
function tenureOf(payment: PaymentRow): { start: number; end: number } {
  const { start, end } = windowOf(payment);
  const rest = (payment.rest_seconds ?? 0) * 1000;
  const paidAt = payment.paid_at?.getTime() ?? end;
  return { start, end: (paidAt < end + rest ? paidAt : end) + rest };
}

/** Whether a transfer came while this dedicated payment had the address. Money may still come in a rest that was ended early. */
export const isInTenure = (payment: PaymentRow, transfer: TransferRow): boolean =>
  isDedicated(payment) && meets(intervalOf(transfer), tenureOf(payment)) && !wasKnownBefore(payment, transfer);

/**
 * Decides what a transfer to an address is that a payment has for itself. Whether it pays is decided with all others: see statusOf().
 * @param holders the dedicated payments in whose time it came, newest first; at least one.
 * @param rivals payments that share the address now, because a rest was ended early, and that would get the transfer.
 * @returns null when it belongs to one of the rivals, because all are for one order.
 */
export function decidePart(
  transfer: TransferRow,
  holders: readonly PaymentRow[],
  rivals: readonly PaymentRow[],
): Decision | null {
  const possible = [...rivals, ...holders];
  const [holder] = holders;
  if (holder === undefined) throw new Error('no payment has this address for itself');
  if (possible.length > 1 && !areOneOrder(possible)) {
    const unpaid = possible.filter(({ status }) => status !== 'PAID');
    return { assignment: mayBeFor(unpaid.length > 0 ? unpaid : possible, 'ambiguous'), move: null };
  }
  // The address was shared after the rest of all holders, so a rival is the newest.
  if (rivals.length > 0) return null;
  const related = (reason: Parameters<typeof mayBeFor>[1]): Decision => ({
    assignment: mayBeFor([holder], reason),
    move: null,
  });
  const isInTime = meets(intervalOf(transfer), windowOf(holder));
  if (isInTime && holder.status !== 'PAID') return { ...related(null), isOpen: true };
  if (holder.status === 'PAID') return related(isExact(transfer, holder) ? 'duplicate' : 'overpaid');
  // Its reason is known when the payment has ended.
  if (isUnfinished(holder.status)) return { assignment: mayBeFor([], null), move: null, isOpen: true };
  return related(cameAfterCancel(holder, intervalOf(transfer).from) ? 'after_cancel' : 'late');
}

const isExact = (transfer: TransferRow, { amount_units: units }: PaymentRow): boolean =>
  slotAmountOf(transfer) === units;

/** The status of a dedicated payment by its transfers, and the one that completes what is enough; null when neither changes. */
export function statusOf(
  { status }: Pick<PaymentRow, 'status'>,
  { confirmed, seen }: Reached,
): { to: 'PAID' | 'CHECKING'; payer: TransferRow } | { to: 'PENDING' } | null {
  if (status === 'PAID') return null;
  if (confirmed !== null) return { to: 'PAID', payer: confirmed };
  // The money came in time but the payment is closed: nothing changes before it is confirmed.
  if (!isUnfinished(status)) return null;
  return seen === null ? { to: 'PENDING' } : { to: 'CHECKING', payer: seen };
}
