import { toTokenUnits } from '@quittance/contracts/amount.ts';
import type { UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import { type Asking, lateReason, nearBy, otherAmount, unclaimed, waitedOrRested } from './candidates.ts';
import { type Model, type ModelPayment, type ModelTransfer, slotOf } from './state.ts';
import { intervalOf, whoseMoney } from './whose-money.ts';

/* The rules about money, applied to a transfer of the model in its current state. */

/** `by`: the rule that decided. A transfer from the wallet to itself brings no money. */
export type Decision =
  | { pays: ModelPayment; inside: boolean; by: string }
  | { among: ModelPayment[]; reason: UnmatchedReason | null; by: string };

const nobodys: Decision & { among: unknown } = { among: [], reason: null, by: 'nobody' };

/** @returns what the rules decide for a transfer in the current state. */
export function decide(model: Model, transfer: ModelTransfer): Decision {
  if (transfer.phase === 'retracted') return nobodys;
  if (transfer.sender === transfer.wallet) return { ...nobodys, by: 'what a wallet sent to itself' };
  const slot = slotOfTransfer(model, transfer);
  const whose = whoseMoney(slot, transfer);
  if ('pays' in whose) return whose;
  if ('among' in whose) return { ...whose, reason: 'ambiguous' };
  const left = unclaimed(slot, transfer);
  // Exactly the amount of a payment that existed then, or still waits: it concerns no others.
  if (slot.some((payment) => waitedOrRested(payment, transfer)) || left?.reason === null) {
    return left === null ? nobodys : { ...left, by: 'rule 6' };
  }
  const near = nearBy(onWallet(model, transfer), { ...transfer, carried: transfer.tokenUnits });
  if (near.among.length > 0) return { ...near, by: 'another amount' };
  return left === null ? nobodys : { ...left, by: 'rule 6, long after' };
}

/** All payments of the wallet, with the amount of each in the units of this transfer. */
export const onWallet = (model: Model, transfer: ModelTransfer): (ModelPayment & Asking)[] =>
  [...model.payments.values()]
    .filter(({ network, wallet }) => network === transfer.network && wallet === transfer.wallet)
    .map((payment) => ({ ...payment, asked: tokenUnitsOf(payment, transfer) }));

const tokenUnitsOf = (payment: ModelPayment, transfer: ModelTransfer): bigint =>
  toTokenUnits(payment.units, transfer.decimals);

export const isExact = (payment: ModelPayment, transfer: ModelTransfer): boolean =>
  payment.network === transfer.network &&
  payment.wallet === transfer.wallet &&
  tokenUnitsOf(payment, transfer) === transfer.tokenUnits;

export function slotOfTransfer(model: Model, transfer: ModelTransfer): ModelPayment[] {
  const unit = toTokenUnits(1n, transfer.decimals);
  if (transfer.tokenUnits % unit !== 0n) return [];
  return slotOf(model, { ...transfer, units: transfer.tokenUnits / unit });
}

/**
 * Why the transfer does not pay this candidate: late for one and after the cancellation of the other, too little here and too much there.
 */
export function reasonFor(payment: ModelPayment, transfer: ModelTransfer): UnmatchedReason | null {
  const asked = tokenUnitsOf(payment, transfer);
  if (asked !== transfer.tokenUnits) return otherAmount({ asked }, { carried: transfer.tokenUnits });
  const isLate = transfer.reason === 'late' || transfer.reason === 'after_cancel';
  return isLate ? lateReason(payment, intervalOf(transfer).from) : transfer.reason;
}

/**
 * The order in which transfers that may pay the same payment are decided: those inside a window first, then confirmed ones, then in the
 * order of the chain.
 */
export function inTurn(model: Model, keys: readonly string[]): string[] {
  const rank = (key: string): bigint[] => {
    const transfer = model.ledger.get(key)!;
    const decision = decide(model, transfer);
    const isInside = 'pays' in decision && decision.inside;
    return [
      BigInt(transfer.pays === null),
      BigInt(!isInside),
      BigInt(transfer.phase !== 'confirmed'),
      BigInt(transfer.blockNumber),
      BigInt(transfer.index),
    ];
  };
  const compare = (one: bigint[], other: bigint[]): number => {
    const place = one.findIndex((part, position) => part !== other[position]);
    return place === -1 ? 0 : one[place]! < other[place]! ? -1 : 1;
  };
  return [...new Set(keys)]
    .map((key) => ({ key, rank: rank(key) }))
    .sort((one, other) => compare(one.rank, other.rank))
    .map(({ key }) => key);
}
