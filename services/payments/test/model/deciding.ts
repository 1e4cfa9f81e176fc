import { toTokenUnits } from '@quittance/contracts/amount.ts';
import type { UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import {
  type Asking,
  lateReason,
  nearBy,
  otherAmount,
  stillPossible,
  unclaimed,
  waitedOrRested,
} from './candidates.ts';
import { type OwnVerdict, tenantsOf, whoseOwnMoney } from './own-address.ts';
import { isOwn, type Model, type ModelPayment, type ModelTransfer, slotOf, walletOf } from './state.ts';
import { intervalOf, whoseMoney } from './whose-money.ts';

/* The rules about money, applied to a transfer of the model in its current state. */

/** `by`: the rule that decided. A transfer from the wallet to itself brings no money. */
export type Decision =
  | { pays: ModelPayment; inside: boolean; by: string }
  | { among: ModelPayment[]; reason: UnmatchedReason | null; by: string };

const nobodys: Decision & { among: unknown } = { among: [], reason: null, by: 'nobody' };

/** @returns what the rules of shared wallets decide for a transfer in the current state. */
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
  const near = nearBy(sharing(model, transfer), { ...transfer, carried: transfer.tokenUnits });
  if (near.among.length > 0) return { ...near, by: 'another amount' };
  return left === null ? nobodys : { ...left, by: 'rule 6, long after' };
}

const bringsMoney = ({ phase, sender, wallet }: ModelTransfer): boolean => phase !== 'retracted' && sender !== wallet;

/** The payments that had the transfer's address for themselves when it came, newest first. */
export const tenantsIn = (model: Model, transfer: ModelTransfer): ModelPayment[] =>
  bringsMoney(transfer) ? tenantsOf(walletOf(model, transfer), transfer) : [];

/** @returns what a transfer is at an address that a payment has for itself; null when the rules of shared wallets decide. */
export function decideOwn(model: Model, transfer: ModelTransfer): OwnVerdict<ModelPayment> | null {
  const tenants = tenantsIn(model, transfer);
  if (tenants.length === 0) return null;
  const shared = whoseMoney(slotOfTransfer(model, transfer), transfer);
  const claimants = 'pays' in shared ? [shared.pays] : 'among' in shared ? shared.among : [];
  return whoseOwnMoney(tenants, claimants, transfer, (payment) => isExact(payment, transfer));
}

/** All payments of the wallet, with the amount of each in the units of this transfer. */
export const onWallet = (model: Model, transfer: ModelTransfer): (ModelPayment & Asking)[] =>
  walletOf(model, transfer).map((payment) => ({ ...payment, asked: tokenUnitsOf(payment, transfer) }));

/** Those that share it. */
export const sharing = (model: Model, transfer: ModelTransfer): (ModelPayment & Asking)[] =>
  onWallet(model, transfer).filter((payment) => !isOwn(payment));

const tokenUnitsOf = (payment: ModelPayment, transfer: ModelTransfer): bigint =>
  toTokenUnits(payment.units, transfer.decimals);

export const isExact = (payment: ModelPayment, transfer: ModelTransfer): boolean =>
  payment.network === transfer.network &&
  payment.wallet === transfer.wallet &&
  tokenUnitsOf(payment, transfer) === transfer.tokenUnits;

/** The payments of its amount that share its wallet. */
export function slotOfTransfer(model: Model, transfer: ModelTransfer): ModelPayment[] {
  const unit = toTokenUnits(1n, transfer.decimals);
  if (transfer.tokenUnits % unit !== 0n) return [];
  return slotOf(model, { ...transfer, units: transfer.tokenUnits / unit }).filter((payment) => !isOwn(payment));
}

/** Writes that a transfer pays nothing, and why. Without a reason it waits for its payment's end. */
export function leave(
  model: Model,
  transfer: ModelTransfer,
  reason: UnmatchedReason | null,
  among: ModelPayment[],
): void {
  const [first] = among;
  transfer.pays = null;
  if (reason === null && first !== undefined) {
    model.reached.push('transfer: came after an unfinished payment');
    transfer.waitsFor = first.id;
    return;
  }
  transfer.reason = reason;
  transfer.among = stillPossible(among).map(({ id }) => id);
  model.reached.push(reason === null ? 'transfer: came for nobody' : `unmatched: ${reason}`);
  if (reason === 'ambiguous' && new Set(among.map(({ merchant }) => merchant)).size > 1)
    model.reached.push('unmatched: ambiguous between merchants');
}

/**
 * Why the transfer does not pay this candidate: late for one and after the cancellation of the other, too little here and too much there.
 */
export function reasonFor(payment: ModelPayment, transfer: ModelTransfer): UnmatchedReason | null {
  // At an address of its own, the sum decides about each transfer.
  if (isOwn(payment)) return transfer.reason;
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
