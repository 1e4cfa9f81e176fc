import { MAX_AMOUNT_UNITS, parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { PaymentRow, SlotSearch } from '../store/payment.ts';
import type { Assignment, TransferRow } from '../store/transfer.ts';
import { LAG_ALLOWANCE_MS, matchPayment, startOfNextSecond, unmatchedReason, waitedAt } from './payment-window.ts';

/** What a transfer pays, and the payment that changes its status for it. */
export type Decision = { assignment: Assignment; move: { payment: PaymentRow; to: 'CHECKING' | 'PAID' } | null };

/**
 * Decides what a transfer pays. It pays nothing yet, or the payment that it matches.
 * @param slot the payments of its slot that its block can concern, oldest first.
 * @param findOnWallet payments of any amount on its wallet, for a transfer that fits none of its slot.
 */
export async function decide(
  transfer: TransferRow,
  slot: readonly PaymentRow[],
  findOnWallet: (transfer: TransferRow) => Promise<readonly PaymentRow[]>,
): Promise<Decision> {
  if (transfer.phase === 'retracted') return unchanged(unrelated);
  const match = matchOf(transfer, slot);
  if (match === null) return unchanged(await assignUnmatched(transfer, slot, findOnWallet));
  const isTaken = match.status === 'CHECKING' && transfer.payment_id !== match.payment_id;
  if (match.status === 'PAID' || isTaken) return unchanged(unmatched(match, transfer));
  const assignment = { payment_id: match.payment_id };
  if (transfer.phase === 'confirmed') return { assignment, move: { payment: match, to: 'PAID' } };
  // The money came in time but the payment is closed: nothing changes before the transfer is confirmed.
  if (match.status === 'EXPIRED' || match.status === 'CANCELLED') {
    return unchanged({ payment_id: null, related_payment_id: match.payment_id, reason: null });
  }
  return { assignment, move: match.status === 'PENDING' ? { payment: match, to: 'CHECKING' } : null };
}

/** The payment of its slot that a transfer matches by the time of its block. */
export const matchOf = (transfer: TransferRow, slot: readonly PaymentRow[]): PaymentRow | null =>
  transfer.phase === 'retracted' ? null : matchPayment(slot, transfer.block_timestamp);

/** Where a transfer looks for its payment; null when it can pay none: retracted, a fraction of a millionth, or more than a payment may ask. */
export function slotSearchOf(transfer: TransferRow): SlotSearch | null {
  const unit = toTokenUnits(1n, transfer.decimals);
  const units = BigInt(transfer.amount_units);
  if (transfer.phase === 'retracted' || units % unit !== 0n || units / unit > MAX_AMOUNT_UNITS) return null;
  return {
    network: transfer.network,
    recipient: transfer.recipient,
    amountUnits: units / unit,
    startedBefore: startOfNextSecond(transfer.block_timestamp),
    createdBefore: endOfLag(transfer),
  };
}

/** Payments created from then on are of no concern to a transfer. */
export const endOfLag = ({ block_timestamp: blockTime }: TransferRow): Date =>
  new Date(blockTime.getTime() + LAG_ALLOWANCE_MS);

/** Whether the transfer is on the chain with what this payment asks for. */
export const paysInFull = (transfer: TransferRow, payment: PaymentRow): boolean =>
  transfer.phase !== 'retracted' &&
  transfer.recipient === payment.recipient &&
  tokenUnitsOf(payment, transfer) === BigInt(transfer.amount_units);

export const tokenUnitsOf = (
  payment: Pick<PaymentRow, 'amount_units'>,
  transfer: Pick<TransferRow, 'decimals'>,
): bigint => toTokenUnits(payment.amount_units, transfer.decimals);

const unchanged = (assignment: Assignment): Decision => ({ assignment, move: null });

const unrelated: Assignment = { payment_id: null, related_payment_id: null, reason: null };

async function assignUnmatched(
  transfer: TransferRow,
  slot: readonly PaymentRow[],
  findOnWallet: (transfer: TransferRow) => Promise<readonly PaymentRow[]>,
): Promise<Assignment> {
  // The last payment started before the block: the money was meant for it, but did not come in time.
  const started = startOfNextSecond(transfer.block_timestamp);
  const late = slot.findLast((payment) => payment.created_at < started);
  const candidates = await findOnWallet(transfer);
  const intended = withoutAddedDigits(candidates, transfer) ?? late ?? closestAmount(candidates, transfer);
  return intended === null ? unrelated : unmatched(intended, transfer);
}

function unmatched(payment: PaymentRow, transfer: TransferRow): Assignment {
  const reason = unmatchedReason(
    { ...payment, tokenUnits: tokenUnitsOf(payment, transfer) },
    { tokenUnits: BigInt(transfer.amount_units), blockTime: transfer.block_timestamp },
  );
  return { payment_id: null, related_payment_id: payment.payment_id, reason };
}

/** The payment that waits for this price and a little more, which its payer has left out: an older one of the bare price is not meant. */
function withoutAddedDigits(candidates: readonly PaymentRow[], transfer: TransferRow): PaymentRow | null {
  const units = slotSearchOf(transfer)?.amountUnits;
  const asks = ({ requested_amount: requested }: PaymentRow) => requested !== null && parseAmount(requested) === units;
  const waits = (payment: PaymentRow) => payment.status !== 'PAID' && waitedAt(payment, transfer.block_timestamp);
  return closestAmount(
    candidates.filter((payment) => asks(payment) && waits(payment)),
    transfer,
  );
}

/**
 * The payment waiting at the time with the nearest amount; if none was waiting then, the last one created before, and if there is none
 * either, as when the chain's clock is far behind ours, the first one created after. Merchants may share a wallet: then this decides
 * which of them sees the transfer.
 */
function closestAmount(candidates: readonly PaymentRow[], transfer: TransferRow): PaymentRow | null {
  const waiting = candidates.filter((payment) => waitedAt(payment, transfer.block_timestamp));
  const distance = (payment: PaymentRow): bigint => {
    const difference = tokenUnitsOf(payment, transfer) - BigInt(transfer.amount_units);
    return difference < 0n ? -difference : difference;
  };
  const nearest = waiting.reduce<PaymentRow | null>(
    (best, one) => (best === null || distance(one) < distance(best) ? one : best),
    null,
  );
  return nearest ?? candidates[0] ?? null;
}
