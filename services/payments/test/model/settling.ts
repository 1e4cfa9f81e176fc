import { toTokenUnits } from '@quittance/contracts/amount.ts';
import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { UnmatchedReason } from '@quittance/contracts/payment.ts';
import { timestamp, sendMessage } from './steps.ts';
import { exactReason, floorSecond, LAG, ownerOf, windowOf } from './rules.ts';
import { type Model, type ModelPayment, type ModelTransfer, slotOf, transferKey } from './state.ts';

/** Takes in what was said of a transfer. @returns false for what is no news. */
export function observeTransfer(model: Model, news: TransferObserved): boolean {
  const transfer = fromNews(news);
  const known = model.ledger.get(transferKey(transfer));
  if (known !== undefined && known.version >= transfer.version) {
    model.reached.push('transfer: old news changed nothing');
    return false;
  }
  const kept = { pays: known?.pays ?? null, meantFor: known?.meantFor ?? null, reason: known?.reason ?? null };
  model.ledger.set(transferKey(transfer), { ...transfer, ...kept });
  settle(model, transferKey(transfer));
  return true;
}

/** As takeTransfer(), for a transfer in chain-watcher's answer: one that pays nothing is decided about once more. */
export function reviewTransfer(model: Model, observed: TransferObserved): 'taken' | 'contradicted' {
  const key = transferKey(fromNews(observed));
  if (observeTransfer(model, observed)) return 'taken';
  const known = model.ledger.get(key);
  if (known?.phase === 'retracted' && observed.phase !== 'retracted') return 'contradicted';
  if (known?.pays === null) settle(model, key);
  return 'taken';
}

/** What a transfer means now. */
function settle(model: Model, key: string): void {
  const transfer = model.ledger.get(key)!;
  const payment = transfer.pays === null ? null : model.payments.get(transfer.pays)!;
  if (payment?.status === 'PAID') {
    if (transfer.phase === 'retracted' || !isExact(payment, transfer)) {
      model.incidents.add(payment.id);
      model.reached.push('reorganisation: an incident for a paid payment');
    }
    return;
  }
  const owner = transfer.phase === 'retracted' ? null : ownerOf(slotOfTransfer(model, transfer), transfer.blockTime);
  const lost = payment !== null && payment.id !== owner?.id ? payment : null;
  if (lost !== null) move(model, lost, 'PENDING');
  transfer.pays = lost === null ? transfer.pays : null;
  place(model, transfer, owner);
  if (lost !== null) for (const rival of rivalsFor(model, lost)) settle(model, transferKey(rival));
}

function place(model: Model, transfer: ModelTransfer, owner: ModelPayment | null): void {
  transfer.meantFor = null;
  transfer.reason = null;
  if (transfer.phase === 'retracted') return;
  if (owner === null) placeUnowned(model, transfer);
  else if (owner.status === 'PAID' || (owner.status === 'CHECKING' && transfer.pays !== owner.id)) {
    leaveUnmatched(model, transfer, owner, 'duplicate');
  } else if (transfer.phase === 'confirmed') pay(model, owner, transfer);
  else if (owner.status === 'EXPIRED' || owner.status === 'CANCELLED') {
    transfer.meantFor = owner.id;
    model.reached.push(`transfer: waits for its confirmation, the payment being ${owner.status}`);
  } else {
    if (owner.status === 'PENDING') move(model, owner, 'CHECKING');
    transfer.pays = owner.id;
  }
}

function pay(model: Model, payment: ModelPayment, transfer: ModelTransfer): void {
  const closed = payment.status === 'EXPIRED' || payment.status === 'CANCELLED';
  notePaid(model, payment, transfer);
  move(model, payment, 'PAID');
  payment.paidAt = model.now;
  transfer.pays = payment.id;
  sendMessage(model, 'PaymentPaid', {
    payment_id: payment.id,
    merchant_id: payment.merchant,
    expected_amount: payment.amount,
    transaction_id: transfer.id,
    transaction_event_index: transfer.index,
    description: payment.description,
    paid_at: timestamp(model.now),
  });
  if (!closed) sayClosed(model, payment, 'PAID');
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

/** Of the exact amount, but in nobody's window; or of another amount. */
function placeUnowned(model: Model, transfer: ModelTransfer): void {
  const begun = slotOfTransfer(model, transfer).filter(
    ({ createdAt }) => floorSecond(createdAt) <= floorSecond(transfer.blockTime),
  );
  const last = begun.at(-1);
  const meant = last ?? nearest(model, transfer);
  if (meant === null) model.reached.push('transfer: came for nobody');
  else {
    noteMeant(model, transfer, meant);
    const reason = isExact(meant, transfer) ? exactReason(meant, transfer.blockTime) : otherAmount(meant, transfer);
    leaveUnmatched(model, transfer, meant, reason);
  }
}

/**
 * The payment that waited then with the nearest amount, the newest of equally near ones; if none waited, the newest; if none was there
 * yet, the first one after. Whose it is does not matter.
 */
function nearest(model: Model, transfer: ModelTransfer): ModelPayment | null {
  const onWallet = [...model.payments.values()]
    .filter(({ network, wallet }) => network === transfer.network && wallet === transfer.wallet)
    .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
  const candidates = onWallet.filter(({ createdAt }) => createdAt - transfer.blockTime < LAG);
  const waiting = candidates.filter((payment) => ownerOf([payment], transfer.blockTime) !== null);
  const distance = (payment: ModelPayment): bigint => {
    const difference = tokenUnitsOf(payment, transfer) - transfer.tokenUnits;
    return difference < 0n ? -difference : difference;
  };
  const best = waiting.reduce<ModelPayment | null>(
    (found, payment) => (found === null || distance(payment) < distance(found) ? payment : found),
    null,
  );
  return best ?? candidates[0] ?? onWallet.at(-1) ?? null;
}

function noteMeant(model: Model, transfer: ModelTransfer, meant: ModelPayment): void {
  if (meant.createdAt - transfer.blockTime >= LAG)
    model.reached.push('transfer: came before all payments of its wallet');
  if (meant.merchant !== transfer.merchant)
    model.reached.push('transfer: was meant for another merchant on its wallet');
}

/** Transfers that could pay a payment that waits again: confirmed ones first, then in the order of the chain. */
const rivalsFor = (model: Model, payment: ModelPayment): ModelTransfer[] =>
  [...model.ledger.values()]
    .filter((transfer) => transfer.pays === null && transfer.phase !== 'retracted' && isExact(payment, transfer))
    .filter(({ blockTime }) => payment.createdAt - blockTime < LAG && blockTime < payment.expiresAt)
    .sort(
      (one, other) =>
        Number(one.phase === 'seen') - Number(other.phase === 'seen') ||
        one.blockNumber - other.blockNumber ||
        one.index - other.index,
    );

function leaveUnmatched(model: Model, transfer: ModelTransfer, payment: ModelPayment, reason: UnmatchedReason): void {
  transfer.pays = null;
  transfer.meantFor = payment.id;
  transfer.reason = reason;
  model.reached.push(`unmatched: ${reason}`);
}

function move(model: Model, payment: ModelPayment, to: 'PENDING' | 'CHECKING' | 'PAID'): void {
  model.reached.push(`payment: ${payment.status} → ${to}`);
  payment.status = to;
}

function notePaid(model: Model, payment: ModelPayment, transfer: ModelTransfer): void {
  const { from, to } = windowOf(payment);
  const { blockTime } = transfer;
  if (blockTime < from) model.reached.push('paid: in a block from before the payment');
  if (blockTime === from) model.reached.push('paid: in the first second of the window');
  if (blockTime >= from && to - blockTime <= 1000) model.reached.push('paid: in the last second of the window');
  const others = [...model.ledger.values()].filter((other) => other.id !== transfer.id);
  if (others.some((other) => other.phase === 'retracted' && isExact(payment, other))) {
    model.reached.push('paid: after another transfer of the amount was retracted');
  }
}

export const otherAmount = (payment: ModelPayment, transfer: ModelTransfer): 'underpaid' | 'overpaid' =>
  transfer.tokenUnits < tokenUnitsOf(payment, transfer) ? 'underpaid' : 'overpaid';

const tokenUnitsOf = (payment: ModelPayment, transfer: ModelTransfer): bigint =>
  toTokenUnits(payment.units, transfer.decimals);

export const isExact = (payment: ModelPayment, transfer: ModelTransfer): boolean =>
  payment.network === transfer.network &&
  payment.wallet === transfer.wallet &&
  tokenUnitsOf(payment, transfer) === transfer.tokenUnits;

function slotOfTransfer(model: Model, transfer: ModelTransfer): ModelPayment[] {
  const unit = toTokenUnits(1n, transfer.decimals);
  if (transfer.tokenUnits % unit !== 0n) return [];
  return slotOf(model, { ...transfer, units: transfer.tokenUnits / unit });
}

const fromNews = (news: TransferObserved): ModelTransfer => ({
  network: news.network,
  id: news.transaction_id,
  index: news.transaction_event_index,
  version: news.version,
  phase: news.phase,
  merchant: news.merchant_id,
  wallet: news.to,
  blockNumber: news.block_number,
  blockTime: Date.parse(news.block_timestamp),
  tokenUnits: BigInt(news.amount_units),
  decimals: news.decimals,
  confirmations: news.confirmations,
  confirmationsRequired: news.confirmations_required,
  pays: null,
  meantFor: null,
  reason: null,
});
