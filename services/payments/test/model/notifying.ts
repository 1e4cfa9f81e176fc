import { formatUnits } from '@quittance/contracts/amount.ts';
import type { NoticeRaised } from '@quittance/contracts/messages.ts';
import type { UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import { noticeTypes, type NoticeType } from '@quittance/contracts/webhook.ts';
import { isDustFor, waitedOrRested } from './candidates.ts';
import { sharing } from './deciding.ts';
import { sendMessage, timestamp } from './steps.ts';
import { beginOf, intervalOf } from './whose-money.ts';
import { candidatesOf, type Model, type ModelPayment, type ModelTransfer } from './state.ts';

/* Events besides PAID, for merchants who subscribe to them. */

/** @param transfer that makes the payment CHECKING, else null. */
export function notifyOfPayment(
  model: Model,
  type: Exclude<NoticeType, 'transfer.unmatched'>,
  payment: ModelPayment,
  transfer: ModelTransfer | null,
): void {
  if (!isChosen(model, payment.merchant, type)) return;
  const transfers = [...model.ledger.values()].filter(
    (one) => one.pays === null && one.reason !== null && candidatesOf(model, one).some(({ id }) => id === payment.id),
  );
  sendMessage(model, 'NoticeRaised', {
    merchant_id: payment.merchant,
    event_type: type,
    ...about(payment, transfer),
    ...(type === 'payment.expired' && transfers.length > 0 && { candidate_transfers: transfers.length }),
  });
  model.reached.push(`notified: ${type}`);
}

/** Decisions made together are reported as they end: not that a payment was CHECKING by a transfer that has been replaced since. */
export function takeBackChecking(model: Model, toldBefore: number): void {
  model.published = model.published.filter((message, position) => {
    if (position < toldBefore || !message.includes('"event_type":"payment.checking"')) return true;
    const {
      payment_id: payment,
      transaction_id: id,
      transaction_event_index: index,
    } = JSON.parse(message.slice(message.indexOf('{'))) as NoticeRaised;
    return [...model.ledger.values()].some((one) => one.id === id && one.index === index && one.pays === payment);
  });
}

/** Each transfer once, when it is confirmed and certain to pay nothing. */
export function notifyOfTransfers(model: Model): void {
  for (const transfer of model.ledger.values()) {
    // A part of a payment has no reason until the payment has ended.
    if (transfer.part !== null && transfer.reason === null) continue;
    if (transfer.notified || transfer.phase !== 'confirmed' || transfer.pays !== null || transfer.waitsFor !== null)
      continue;
    transfer.notified = true;
    // The exact amount of a payment that ended long ago is not dust, however small.
    if (candidatesOf(model, transfer).length === 0 && isDust(model, transfer)) continue;
    const merchants = toNotify(model, transfer);
    for (const merchant of merchants) notify(model, merchant, transfer);
    if (merchants.size > 1) model.reached.push('notified: several merchants of one transfer');
  }
}

function toNotify(model: Model, transfer: ModelTransfer): Set<string> {
  const candidates = candidatesOf(model, transfer);
  return new Set(candidates.length === 0 ? [transfer.merchant] : candidates.map(({ merchant }) => merchant));
}

function notify(model: Model, merchant: string, transfer: ModelTransfer): void {
  if (!isChosen(model, merchant, 'transfer.unmatched')) return;
  const candidates = candidatesOf(model, transfer);
  const own = candidates.filter((payment) => payment.merchant === merchant);
  sendMessage(model, 'NoticeRaised', {
    merchant_id: merchant,
    event_type: 'transfer.unmatched',
    ...about(candidates.length === 1 ? candidates[0]! : null, transfer),
    candidates: own.map(({ id }) => id).sort(),
    ...(own.length < candidates.length && { candidates_elsewhere: true }),
    transfer: moneyOf(transfer, transfer.reason),
  });
  model.reached.push(`notified: transfer.unmatched, ${transfer.reason}`);
}

/** Below a hundredth of every amount that was waiting on the wallet; if none was, of every amount that had been requested there. */
function isDust(model: Model, transfer: ModelTransfer): boolean {
  const wallet = sharing(model, transfer);
  const there = wallet.filter((payment) => waitedOrRested(payment, transfer));
  const compared = there.length > 0 ? there : wallet.filter((payment) => beginOf(payment) <= intervalOf(transfer).to);
  return compared.length > 0 && compared.every((payment) => isDustFor(payment, { carried: transfer.tokenUnits }));
}

const isChosen = (model: Model, merchant: string, type: NoticeType): boolean =>
  model.webhooks.get(merchant)?.includes(noticeTypes[type]) ?? false;

const about = (payment: ModelPayment | null, transfer: ModelTransfer | null): object => ({
  payment_id: payment?.id ?? null,
  expected_amount: payment?.amount ?? null,
  description: payment?.description ?? null,
  transaction_id: transfer?.id ?? null,
  transaction_event_index: transfer?.index ?? null,
  ...(payment !== null && payment.orderId !== null && { order_id: payment.orderId }),
  ...(payment !== null && payment.priced !== null && { price: payment.priced.price, rate: payment.priced.rate }),
});

export const moneyOf = (transfer: ModelTransfer, reason: UnmatchedReason | null): object => ({
  amount: formatUnits(transfer.tokenUnits, transfer.decimals),
  reason,
  network: transfer.network,
  merchant_wallet: transfer.wallet,
  block_timestamp: timestamp(transfer.blockTime),
});
