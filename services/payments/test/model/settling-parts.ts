import { toTokenUnits } from '@quittance/contracts/amount.ts';
import { decideOwn, isExact, leave, tenantsIn } from './deciding.ts';
import { becomePaid, move, noteIncident } from './moving.ts';
import { notifyOfPayment } from './notifying.ts';
import { addUp, isUnfinished } from './own-address.ts';
import { inChain, isOwn, type Model, type ModelPayment, type ModelTransfer, paymentOf } from './state.ts';

/* Transfers to addresses that one payment has for itself: what each of them is, and then their sum. */

/** Whether a transfer is at such an address, or is named to a payment that has one. */
export function isPart(model: Model, transfer: ModelTransfer): boolean {
  const before = paymentOf(model, transfer);
  return tenantsIn(model, transfer).length > 0 || (before !== null && isOwn(before));
}

type Settled = {
  /** Transfers that the rules of shared wallets decide about. */
  others: string[];
  /** Payments of shared wallets that were CHECKING, whose transfer has moved to such an address. */
  left: ModelPayment[];
  paid: ModelPayment[];
};

/** All transfers are placed before any payment changes. */
export function settleParts(model: Model, keys: readonly string[]): Settled {
  const settled: Settled = { others: [], left: [], paid: [] };
  const affected = new Set<ModelPayment>();
  const retracted = new Set<ModelPayment>();
  for (const key of keys) {
    const transfer = model.ledger.get(key)!;
    const before = paymentOf(model, transfer);
    if (before?.status === 'PAID' && (transfer.pays !== null || transfer.counted !== null)) {
      noteIncident(model, before, transfer, isExact(before, transfer));
      continue;
    }
    const tenants = tenantsIn(model, transfer);
    for (const payment of [...tenants, ...(before === null ? [] : [before])]) if (isOwn(payment)) affected.add(payment);
    if (before !== null && transfer.phase === 'retracted') retracted.add(before);
    if (before !== null && !isOwn(before) && transfer.pays !== null) {
      move(model, before, 'PENDING');
      settled.left.push(before);
      model.reached.push('reorganisation: money of a shared wallet moves to an address of its own');
    }
    Object.assign(transfer, { pays: null, part: null, among: [], reason: null, waitsFor: null });
    if (!placePart(model, transfer)) settled.others.push(key);
  }
  for (const payment of affected) {
    if (payment.status === 'PAID') continue;
    const was = payment.status;
    weigh(model, payment, settled);
    const isLost = was === 'CHECKING' && payment.status === 'PENDING';
    if (isLost && retracted.has(payment)) model.reached.push('own address: CHECKING lost by a retracted part');
  }
  return settled;
}

/** @returns false when the rules of shared wallets decide about it. */
function placePart(model: Model, transfer: ModelTransfer): boolean {
  if (transfer.phase === 'retracted') return true;
  const verdict = decideOwn(model, transfer);
  if (verdict === null) return false;
  if ('counts' in verdict) Object.assign(transfer, { part: verdict.counts.id, among: [verdict.counts.id] });
  else {
    leave(model, transfer, verdict.reason, verdict.among);
    if (verdict.reason === 'ambiguous') model.reached.push('own address: ambiguous after a rest that was ended early');
  }
  return true;
}

/** Moves a payment to what its parts come to. One that was only looked up does not count before it is published. */
function weigh(model: Model, payment: ModelPayment, { paid }: Settled): void {
  const all = [...model.ledger.values()].filter(({ part }) => part === payment.id);
  const payer = all.find(({ pays }) => pays === payment.id);
  if (payer !== undefined) Object.assign(payer, { pays: null, among: [payment.id] });
  const parts = all
    .filter(({ version }) => version > 0)
    .sort(inChain)
    .map((transfer) => ({ transfer, units: transfer.tokenUnits, isConfirmed: transfer.phase === 'confirmed' }));
  const asked = toTokenUnits(payment.units, parts[0]?.transfer.decimals ?? 6);
  const { confirmed, seen } = addUp(parts, { asked, percent: payment.percent });
  if (confirmed !== null) {
    payWith(
      model,
      payment,
      confirmed.transfer,
      parts.map(({ transfer }) => transfer),
    );
    paid.push(payment);
  } else if (isUnfinished(payment)) check(model, payment, seen?.transfer ?? null, payer);
  else for (const { transfer } of parts) transfer.reason = seen === null ? 'underpaid' : null;
}

function payWith(model: Model, payment: ModelPayment, payer: ModelTransfer, all: readonly ModelTransfer[]): void {
  const others = all.filter((part) => part !== payer && part.phase === 'confirmed');
  const sum = [...others, payer].reduce((units, { tokenUnits }) => units + tokenUnits, 0n);
  const asked = toTokenUnits(payment.units, payer.decimals);
  model.reached.push(others.length === 0 ? 'own address: paid by one transfer' : 'own address: paid by several parts');
  if (sum < asked) model.reached.push('own address: paid by accept_from_percent');
  if (sum > asked) model.reached.push('own address: paid with more than the amount');
  if (!isUnfinished(payment)) model.reached.push(`own address: paid in time after it was ${payment.status}`);
  becomePaid(model, payment, payer, false, others);
}

function check(
  model: Model,
  payment: ModelPayment,
  payer: ModelTransfer | null,
  before: ModelTransfer | undefined,
): void {
  if (payer === null) {
    if (payment.status === 'CHECKING') move(model, payment, 'PENDING');
    return;
  }
  Object.assign(payer, { pays: payment.id, among: [], reason: null });
  if (payment.status === 'PENDING') {
    move(model, payment, 'CHECKING');
    notifyOfPayment(model, 'payment.checking', payment, payer);
  } else if (payer !== before) model.reached.push('own address: CHECKING by other parts');
}

/** Everything confirmed that has arrived at the address of a payment for which somebody accepts a transfer, besides this. */
export const everythingElse = (model: Model, payment: ModelPayment, transfer: ModelTransfer): ModelTransfer[] =>
  [...model.ledger.values()].filter(
    (other) => other !== transfer && other.phase === 'confirmed' && paymentOf(model, other)?.id === payment.id,
  );
