import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import { stillPossible } from './candidates.ts';
import { decide, type Decision, inTurn, isExact, reasonFor, slotOfTransfer } from './deciding.ts';
import { REACH } from './other-services.ts';
import { moneyOf, notifyOfPayment, notifyOfTransfers, takeBackChecking } from './notifying.ts';
import { timestamp, sendMessage } from './steps.ts';
import { takeIn } from './taking-in.ts';
import { isUnfinished, type Model, type ModelPayment, type ModelTransfer, slotOf, transferKey } from './state.ts';
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
  // Its message came in the meantime.
  if (key === null) return;
  settle(model, key);
  notifyOfTransfers(model);
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
  const leaves = (key: string): boolean => {
    const transfer = model.ledger.get(key)!;
    const payment = transfer.pays === null ? null : model.payments.get(transfer.pays)!;
    if (payment === null || payment.status === 'PAID') return false;
    const decision = decideFree(model, transfer, payment);
    return !('pays' in decision) || decision.pays !== payment;
  };
  const left = [...new Set([...keys.filter(leaves), ...keys])].flatMap((key) => settleOne(model, key) ?? []);
  // Another transfer of the same batch may have replaced it.
  for (const payment of left) if (payment.status === 'PENDING') settleThose(model, rivalsFor(model, payment));
  notifyOfTransfers(model);
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
    noteIncident(model, payment, transfer);
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

function noteIncident(model: Model, payment: ModelPayment, transfer: ModelTransfer): void {
  const same = transfer.accepted === null ? isExact(payment, transfer) : transfer.accepted === transfer.tokenUnits;
  if (transfer.phase !== 'retracted' && same) return;
  model.incidents.add(payment.id);
  model.reached.push('reorganisation: an incident for a paid payment');
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
  const wasOpen = payment.status === 'PENDING' || payment.status === 'CHECKING';
  notePaid(model, payment, transfer);
  const reason = reasonFor(payment, transfer);
  const was = accepted ? { accepted: true, transfer: moneyOf(transfer, reason) } : {};
  move(model, payment, 'PAID');
  payment.paidAt = model.now;
  const holder = [...model.ledger.values()].find((other) => other !== transfer && other.pays === payment.id);
  if (holder !== undefined) holder.pays = null;
  Object.assign(transfer, {
    pays: payment.id,
    among: [],
    reason: null,
    waitsFor: null,
    accepted: accepted ? transfer.tokenUnits : null,
  });
  sendMessage(model, 'PaymentPaid', {
    payment_id: payment.id,
    merchant_id: payment.merchant,
    expected_amount: payment.amount,
    transaction_id: transfer.id,
    transaction_event_index: transfer.index,
    description: payment.description,
    paid_at: timestamp(model.now),
    ...(payment.orderId !== null && { order_id: payment.orderId }),
    ...was,
  });
  if (wasOpen) sayClosed(model, payment, 'PAID');
  countAnew(model, payment);
  settleThose(model, [...(holder === undefined ? [] : [holder]), ...waitingFor(model, payment)]);
}

export function sayClosed(model: Model, payment: ModelPayment, status: 'PAID' | 'EXPIRED' | 'CANCELLED'): void {
  sendMessage(model, 'PaymentClosed', {
    payment_id: payment.id,
    merchant_id: payment.merchant,
    network: payment.network,
    recipient: payment.wallet,
    status,
    closed_at: timestamp(model.now),
  });
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
  [...model.ledger.values()].filter(({ waitsFor }) => {
    const awaited = waitsFor === null ? undefined : model.payments.get(waitsFor);
    if (awaited === undefined || !slotOf(model, payment).includes(awaited)) return false;
    return awaited === payment || isUnfinished(awaited);
  });

/** Money that may be for several payments is not for one that has other money; but it keeps the last one. */
function countAnew(model: Model, paid: ModelPayment): void {
  for (const transfer of model.ledger.values()) {
    if (!transfer.among.includes(paid.id) || transfer.among.length === 1) continue;
    transfer.among = transfer.among.filter((id) => id !== paid.id);
    model.reached.push('candidates: counted again when one was paid');
  }
}

/** Transfers that could pay a payment that waits again, whatever the chain's clock. */
const rivalsFor = (model: Model, payment: ModelPayment): ModelTransfer[] =>
  [...model.ledger.values()].filter((transfer) => {
    const isNear = transfer.blockTime >= payment.createdAt - REACH && transfer.blockTime < payment.expiresAt + REACH;
    return transfer.pays === null && transfer.phase !== 'retracted' && isExact(payment, transfer) && isNear;
  });

function settleThose(model: Model, transfers: readonly ModelTransfer[]): void {
  for (const key of inTurn(model, transfers.map(transferKey))) settle(model, key);
}

function leave(model: Model, transfer: ModelTransfer, reason: UnmatchedReason | null, among: ModelPayment[]): void {
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

function move(model: Model, payment: ModelPayment, to: 'PENDING' | 'CHECKING' | 'PAID'): void {
  model.reached.push(`payment: ${payment.status} → ${to}`);
  payment.status = to;
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
