import { MAX_AMOUNT_UNITS, toTokenUnits } from '@quittance/contracts/amount.ts';
import { CANDIDATES_MAX, type UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import { isUnfinished } from '../payment/state.ts';
import type { HolderSearch, PaymentRow, SlotSearch } from '../payment/payment.sql.ts';
import type { Assignment, TransferRow } from './transfer.sql.ts';
import { areOneOrder, type Claim, claimOf, endedUnpaidBefore } from './claim.ts';
import {
  intervalOf,
  isCloseAmount,
  isDust,
  startOf,
  startOfNextSecond,
  unmatchedReason,
  waitedOrRested,
  wasKnownBefore,
} from './payment-window.ts';

/**
 * What a transfer pays, and the payment that changes its status for it. `isOpen`: the reason why it does not pay is only known when a
 * payment ends, and nobody is notified until then.
 */
export type Decision = {
  assignment: Assignment;
  move: { payment: PaymentRow; to: 'CHECKING' | 'PAID' } | null;
  isOpen?: true;
};

/**
 * Decides what a transfer pays: the payment that claims it, or nothing.
 * @param slot see claimOf().
 * @param findOnWallet payments of any amount on its wallet, for a transfer that no payment of its slot claims.
 */
export async function decide(
  transfer: TransferRow,
  slot: readonly PaymentRow[],
  findOnWallet: (transfer: TransferRow) => Promise<readonly PaymentRow[]>,
): Promise<Decision> {
  const claim = claimIn(transfer, slot);
  if (claim.kind === 'none') return assignUnclaimed(transfer, slot, findOnWallet);
  if (claim.kind === 'ambiguous') return unchanged(mayBeFor(claim.candidates, 'ambiguous'));
  const { payment } = claim;
  const isTaken = payment.status === 'CHECKING' && transfer.payment_id !== payment.payment_id;
  if (payment.status === 'PAID' || isTaken) return unchanged(mayBeFor([payment], 'duplicate'));
  if (transfer.is_held) return { ...unchanged(mayBeFor([payment], null)), isOpen: true };
  const assignment = { payment_id: payment.payment_id };
  if (transfer.phase === 'confirmed') return { assignment, move: { payment, to: 'PAID' } };
  // The money came in time but the payment is closed: nothing changes before the transfer is confirmed.
  if (!isUnfinished(payment.status)) return unchanged(mayBeFor([payment], null));
  return { assignment, move: payment.status === 'PENDING' ? { payment, to: 'CHECKING' } : null };
}

/** Like claimOf(). A transfer that is not on the chain, or from the wallet to itself, brings no money. */
export const claimIn = (transfer: TransferRow, slot: readonly PaymentRow[]): Claim<PaymentRow> =>
  bringsMoney(transfer) ? claimOf(slot, transfer) : { kind: 'none' };

/** Whether a transfer belongs to this payment, so that only its status is left to decide. */
export function isClaimedBy(payment: PaymentRow, transfer: TransferRow, slot: readonly PaymentRow[]): boolean {
  const claim = claimIn(transfer, slot);
  return claim.kind === 'one' && claim.payment.payment_id === payment.payment_id;
}

/**
 * Where a transfer looks for its payment on an address that payments share. Null when it can pay none: it brings no money, a fraction of a
 * millionth, or more than the maximum amount.
 */
export function slotSearchOf(transfer: TransferRow): SlotSearch | null {
  const amountUnits = slotAmountOf(transfer);
  if (!bringsMoney(transfer) || amountUnits === null) return null;
  const { from, to } = intervalOf(transfer);
  return {
    network: transfer.network,
    recipient: transfer.recipient,
    amountUnits,
    startedBefore: new Date(Math.min(startOfNextSecond(from).getTime(), knownFrom(transfer))),
    createdBefore: startOfNextSecond(to),
  };
}

/** What a transfer carries in millionths of a USDT; null for a fraction of one, and for more than the maximum amount. */
export function slotAmountOf({ amount_units: text, decimals }: TransferRow): bigint | null {
  const unit = toTokenUnits(1n, decimals);
  const units = BigInt(text);
  return units % unit === 0n && units / unit <= MAX_AMOUNT_UNITS ? units / unit : null;
}

/** Where a transfer looks for a payment that has its address for itself. Null when it brings no money. */
export const holderSearchOf = (transfer: TransferRow): HolderSearch | null =>
  bringsMoney(transfer)
    ? {
        network: transfer.network,
        recipient: transfer.recipient,
        createdBefore: startOfNextSecond(intervalOf(transfer).to),
      }
    : null;

/** Payments that begin at or after this time do not concern the transfer. */
export const knownFrom = ({ first_seen_at: seen }: TransferRow): number =>
  seen === null ? Infinity : seen.getTime() + 1;

/** Whether the transfer is on the chain and carries what this payment asks for. */
export const paysInFull = (transfer: TransferRow, payment: PaymentRow): boolean =>
  transfer.phase !== 'retracted' &&
  transfer.recipient === payment.recipient &&
  tokenUnitsOf(payment, transfer) === BigInt(transfer.amount_units);

export const tokenUnitsOf = (
  payment: Pick<PaymentRow, 'amount_units'>,
  transfer: Pick<TransferRow, 'decimals'>,
): bigint => toTokenUnits(payment.amount_units, transfer.decimals);

const bringsMoney = ({ phase, sender, recipient }: TransferRow): boolean =>
  phase !== 'retracted' && sender !== recipient;

const unchanged = (assignment: Assignment): Decision => ({ assignment, move: null });

/** @param payments the most probable one first. A single one is named as related; several become candidates. */
export const mayBeFor = (payments: readonly PaymentRow[], reason: UnmatchedReason | null): Assignment =>
  mayBeForIds(
    payments.slice(0, CANDIDATES_MAX).map(({ payment_id: id }) => id),
    reason,
  );

function mayBeForIds(ids: string[], reason: UnmatchedReason | null): Assignment {
  const [only = null] = ids;
  return ids.length > 1
    ? { payment_id: null, related_payment_id: null, candidates: ids, reason }
    : { payment_id: null, related_payment_id: only, candidates: null, reason };
}

/** A decision made before this payment became PAID, without it as a candidate. dropCandidates() does the same for the ledger's rows. */
export function withoutCandidate(decision: Decision, paymentId: string): Decision {
  const { assignment } = decision;
  if (assignment.payment_id !== null || !assignment.candidates?.includes(paymentId)) return decision;
  const others = assignment.candidates.filter((id) => id !== paymentId);
  return { ...decision, assignment: mayBeForIds(others, assignment.reason) };
}

/** No payment of its slot claims it: it came too late, or has the wrong amount. */
async function assignUnclaimed(
  transfer: TransferRow,
  slot: readonly PaymentRow[],
  findOnWallet: (transfer: TransferRow) => Promise<readonly PaymentRow[]>,
): Promise<Decision> {
  const nothing = mayBeFor([], null);
  if (!bringsMoney(transfer)) return unchanged(nothing);
  const late = latePayments(transfer, slot);
  const [latest] = late;
  if (latest?.status === 'PENDING') return { ...unchanged(nothing), isOpen: true };
  const asLate = () => (latest === undefined ? nothing : mayBeFor(late, reasonFor(latest, transfer)));
  // An amount that was requested so recently belongs to that payment, and is not an inexact amount for another.
  if (latest !== undefined && waitedOrRested(latest, transfer)) return unchanged(asLate());
  const candidates = inexactCandidates(await findOnWallet(transfer), transfer);
  const [nearest] = candidates;
  return unchanged(nearest === undefined ? asLate() : mayBeFor(candidates, reasonFor(nearest, transfer)));
}

/** The last payment of the slot before the transfer, and the one before it if that one's customer may still have paid. */
function latePayments(transfer: TransferRow, slot: readonly PaymentRow[]): PaymentRow[] {
  const { from, to } = intervalOf(transfer);
  const began = slot.filter((payment) => startOf(payment) <= to && !wasKnownBefore(payment, transfer));
  const [latest, before] = began.toReversed();
  if (latest === undefined) return [];
  const isOneOrder = before !== undefined && areOneOrder([latest, before]);
  const isPaying = latest.status === 'PAID' || latest.status === 'CHECKING';
  const isAlone = before === undefined || isOneOrder || isPaying || !endedUnpaidBefore(before, from);
  return isAlone ? [latest] : [latest, before];
}

/**
 * The payments that a transfer with a wrong amount may be for: those that were waiting when it came, or had ended less than 24 hours
 * before. Payments for which it is from half to twice the amount; if there are none, all for which it is not dust. A PAID one only when
 * nothing else fits.
 */
export function inexactCandidates(onWallet: readonly PaymentRow[], transfer: TransferRow): PaymentRow[] {
  const units = BigInt(transfer.amount_units);
  const distance = (payment: PaymentRow): bigint => {
    const difference = tokenUnitsOf(payment, transfer) - units;
    return difference < 0n ? -difference : difference;
  };
  const possible = onWallet
    .filter((payment) => distance(payment) > 0n && waitedOrRested(payment, transfer))
    .filter((payment) => !isDust(units, tokenUnitsOf(payment, transfer)))
    .toSorted((a, b) => Number(distance(a) > distance(b)) - Number(distance(a) < distance(b)));
  const close = possible.filter((payment) => isCloseAmount(units, tokenUnitsOf(payment, transfer)));
  const unpaid = ({ status }: PaymentRow) => status !== 'PAID';
  return [close.filter(unpaid), possible.filter(unpaid), close, possible].find(({ length }) => length > 0) ?? [];
}

/** Why the transfer does not pay this payment, which does not claim it. */
const reasonFor = (payment: PaymentRow, transfer: TransferRow): UnmatchedReason =>
  unmatchedReason(
    { ...payment, tokenUnits: tokenUnitsOf(payment, transfer) },
    { ...transfer, tokenUnits: BigInt(transfer.amount_units) },
  );
