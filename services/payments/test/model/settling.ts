import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { decide, type Decision, inTurn, isExact, leave, slotOfTransfer } from './deciding.ts';
import { becomePaid, move, noteIncident } from './moving.ts';
import { notifyOfPayment, notifyOfTransfers, takeBackChecking } from './notifying.ts';
import { REACH } from './other-services.ts';
import { isUnfinished } from './own-address.ts';
import { everythingElse, isPart, settleParts } from './settling-parts.ts';
import { isOwn, type Model, type ModelPayment, type ModelTransfer, slotOf, transferKey } from './state.ts';
import { takeIn } from './taking-in.ts';
import { beginOf, endOf, inOrder, isInWindow } from './whose-money.ts';

/** Records news about transfers, all of it before anything is decided. */
export function observeTransfers(model: Model, news: readonly TransferObserved[]): void {
  const toldBefore = model.published.length;
  const keys = news.flatMap((one) => takeIn(model, one) ?? []);
  settleAll(model, keys);
  takeBackChecking(model, toldBefore);
}

/**
 * Records what the chain shows of a transfer that was not published. Its first reading is not known, and may have been before the payment
 * that it seems to be for: it pays none automatically.
 */
export function recordTransfer(model: Model, observed: TransferObserved): void {
  const key = takeIn(model, observed);
  // Its message may have come in the meantime.
  if (key !== null) settleAll(model, [key]);
}

/**
 * Like observeTransfers(), for chain-watcher's answer: transfers that pay nothing are decided again. @returns those that a newer version
 * contradicts.
 */
export function reviewTransfers(model: Model, answer: readonly TransferObserved[]): TransferObserved[] {
  const toldBefore = model.published.length;
  const reviewed = answer.map((observed) => {
    const { network, transaction_id: id, transaction_event_index: index } = observed;
    const key = transferKey({ network, id, index });
    const isNews = takeIn(model, observed) !== null;
    return { key, observed, isNews, known: model.ledger.get(key)! };
  });
  const isContradicted = ({ observed, known }: (typeof reviewed)[number]): boolean =>
    known.phase === 'retracted' && observed.phase !== 'retracted';
  const open = reviewed.filter((one) => !isContradicted(one) && (one.isNews || one.known.pays === null));
  settleAll(
    model,
    open.map(({ key }) => key),
  );
  takeBackChecking(model, toldBefore);
  return reviewed.filter(isContradicted).map(({ observed }) => observed);
}

/** It was only looked up, and does not pay automatically before it is published. */
const isHeld = ({ version }: ModelTransfer): boolean => version === 0;

/** What transfers mean now, and the consequences for others. Transfers that no longer pay come first: they make room. */
function settleAll(model: Model, keys: readonly string[]): void {
  const { own, others } = apart(model, keys);
  const settled = settleParts(model, own);
  const leaves = (key: string): boolean => {
    const transfer = model.ledger.get(key)!;
    const payment = transfer.pays === null ? null : model.payments.get(transfer.pays)!;
    if (payment === null || payment.status === 'PAID') return false;
    const decision = decideFree(model, transfer, payment);
    return !('pays' in decision) || decision.pays !== payment;
  };
  const shared = [...others, ...settled.others];
  const left = [...new Set([...shared.filter(leaves), ...shared])].flatMap((key) => settleOne(model, key) ?? []);
  // Another transfer of the same batch may have replaced it.
  for (const payment of [...settled.left, ...left])
    if (payment.status === 'PENDING') settleThose(model, rivalsFor(model, payment));
  for (const payment of settled.paid) settleThose(model, waitingFor(model, payment));
  notifyOfTransfers(model);
}

/** Transfers to addresses that one payment has for itself, and the others. */
function apart(model: Model, keys: readonly string[]): { own: string[]; others: string[] } {
  const all = [...new Set(keys)];
  const own = all.filter((key) => isPart(model, model.ledger.get(key)!));
  return { own, others: all.filter((key) => !own.includes(key)) };
}

/** It holds nothing during the decision: the new result must not depend on the old one. */
function decideFree(model: Model, transfer: ModelTransfer, payment: ModelPayment): Decision {
  payment.status = 'PENDING';
  const decision = decide(model, transfer);
  payment.status = 'CHECKING';
  return decision;
}

function settle(model: Model, key: string): void {
  const left = settleOne(model, key);
  if (left !== null) settleThose(model, rivalsFor(model, left));
}

/** @returns the payment that the transfer no longer pays. */
function settleOne(model: Model, key: string): ModelPayment | null {
  const transfer = model.ledger.get(key)!;
  const payment = transfer.pays === null ? null : model.payments.get(transfer.pays)!;
  if (payment?.status === 'PAID') {
    noteIncident(model, payment, transfer, isExact(payment, transfer));
    return null;
  }
  const decision = payment === null ? decide(model, transfer) : decideFree(model, transfer, payment);
  const owner = 'pays' in decision ? decision.pays : null;
  const lost = payment !== null && payment.id !== owner?.id ? payment : null;
  if (lost !== null) {
    move(model, lost, 'PENDING');
    transfer.pays = null;
    if ('among' in decision && decision.reason === 'ambiguous')
      model.reached.push('reorganisation: money of a CHECKING payment becomes ambiguous');
  }
  place(model, transfer, decision);
  return lost;
}

function place(model: Model, transfer: ModelTransfer, decision: Decision): void {
  transfer.among = [];
  transfer.reason = null;
  transfer.waitsFor = null;
  if (transfer.phase === 'retracted') return;
  if ('among' in decision) {
    model.reached.push(`decided: ${decision.by}`);
    leave(model, transfer, decision.reason, decision.among);
    return;
  }
  const { pays: owner, inside, by } = decision;
  const holder = [...model.ledger.values()].find((other) => other !== transfer && other.pays === owner.id);
  const givesWay = owner.status === 'CHECKING' && holder?.inside === false && inside && !isHeld(transfer);
  if (owner.status === 'PAID' || (holder !== undefined && !givesWay)) {
    leave(model, transfer, 'duplicate', [owner]);
    return;
  }
  if (isHeld(transfer)) {
    transfer.among = [owner.id];
    transfer.waitsFor = owner.id;
    return;
  }
  if (holder !== undefined) {
    model.reached.push('transfer: one inside the window takes the place of one that only its end lets in');
    holder.pays = null;
  }
  model.reached.push(`decided: ${by}, one payment`);
  transfer.inside = inside;
  if (transfer.phase === 'confirmed') pay(model, owner, transfer);
  else if (owner.status === 'EXPIRED' || owner.status === 'CANCELLED') {
    transfer.among = [owner.id];
    transfer.waitsFor = owner.id;
    model.reached.push(`transfer: waits for its confirmation, the payment being ${owner.status}`);
  } else {
    transfer.pays = owner.id;
    // It may already be CHECKING by this one.
    if (owner.status === 'PENDING' || holder !== undefined) {
      move(model, owner, 'CHECKING');
      notifyOfPayment(model, 'payment.checking', owner, transfer);
    }
  }
  if (holder !== undefined) settleThose(model, [holder]);
}

/** @param accepted whether somebody accepted it, instead of the rules. */
export function pay(model: Model, payment: ModelPayment, transfer: ModelTransfer, accepted = false): void {
  notePaid(model, payment, transfer);
  const holder = [...model.ledger.values()].find((other) => other !== transfer && other.pays === payment.id);
  if (holder !== undefined) holder.pays = null;
  becomePaid(model, payment, transfer, accepted, isOwn(payment) ? everythingElse(model, payment, transfer) : null);
  settleThose(model, [...(holder === undefined ? [] : [holder]), ...waitingFor(model, payment)]);
}

/** A payment ended unpaid: transfers after its end get a reason now. */
export function settleAfterEnd(model: Model, payment: ModelPayment): void {
  settleThose(model, waitingFor(model, payment));
  notifyOfTransfers(model);
}

/**
 * Transfers that were undecided until something in this slot ended or was paid. Money that came in time for a payment that has ended is
 * decided again when it is confirmed, and not when another payment ends.
 */
const waitingFor = (model: Model, payment: ModelPayment): ModelTransfer[] =>
  [...model.ledger.values()].filter(({ waitsFor, part, counted }) => {
    if (part === payment.id && counted === null) return true;
    const awaited = waitsFor === null ? undefined : model.payments.get(waitsFor);
    if (awaited === undefined || !slotOf(model, payment).includes(awaited)) return false;
    return awaited === payment || isUnfinished(awaited);
  });

/** Transfers that could pay a payment that waits again, whatever the chain's clock. */
const rivalsFor = (model: Model, payment: ModelPayment): ModelTransfer[] =>
  [...model.ledger.values()].filter((transfer) => {
    const isNear = transfer.blockTime >= payment.createdAt - REACH && transfer.blockTime < payment.expiresAt + REACH;
    const paysNothing = transfer.pays === null && transfer.counted === null;
    return paysNothing && transfer.phase !== 'retracted' && isExact(payment, transfer) && isNear;
  });

function settleThose(model: Model, transfers: readonly ModelTransfer[]): void {
  const { own, others } = apart(model, transfers.map(transferKey));
  const settled = settleParts(model, own);
  for (const key of inTurn(model, [...others, ...settled.others])) settle(model, key);
  for (const payment of settled.left) if (payment.status === 'PENDING') settleThose(model, rivalsFor(model, payment));
  for (const payment of settled.paid) settleThose(model, waitingFor(model, payment));
}

function notePaid(model: Model, payment: ModelPayment, transfer: ModelTransfer): void {
  const { blockTime } = transfer;
  const slot = slotOfTransfer(model, transfer).sort(inOrder);
  if (blockTime < beginOf(payment)) model.reached.push('paid: in a block from before the payment');
  if (blockTime === beginOf(payment)) model.reached.push('paid: in the first second of the window');
  if (isInWindow(slot, payment, blockTime) && !isInWindow(slot, payment, blockTime + 1000))
    model.reached.push('paid: in the last second of the window');
  if (blockTime >= endOf(payment)) model.reached.push('paid: in a block from after the payment');
  const others = [...model.ledger.values()].filter((other) => other.id !== transfer.id);
  if (others.some((other) => other.phase === 'retracted' && isExact(payment, other))) {
    model.reached.push('paid: after another transfer of the amount was retracted');
  }
}
