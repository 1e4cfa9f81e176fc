import { formatUnits } from '@quittance/contracts/amount.ts';
import { reasonFor } from './deciding.ts';
import { moneyOf } from './notifying.ts';
import { isUnfinished } from './own-address.ts';
import { inChain, isOwn, type Model, type ModelPayment, type ModelTransfer } from './state.ts';
import { sendMessage, timestamp } from './steps.ts';

/* Payments that change their status, and the messages about it. */

export function move(model: Model, payment: ModelPayment, to: 'PENDING' | 'CHECKING' | 'PAID'): void {
  model.reached.push(`payment: ${payment.status} → ${to}`);
  payment.status = to;
}

export function sayClosed(model: Model, payment: ModelPayment, status: 'PAID' | 'EXPIRED' | 'CANCELLED'): void {
  sendMessage(model, 'PaymentClosed', {
    payment_id: payment.id,
    merchant_id: payment.merchant,
    network: payment.network,
    recipient: payment.wallet,
    status,
    closed_at: timestamp(model.now),
    ...restOf(payment),
  });
}

export const restOf = ({ rest }: ModelPayment): object => (rest === null ? {} : { rest_seconds: rest / 1000 });

/**
 * @param accepted whether somebody accepted the transfer, instead of the rules. @param parts the others that pay together with it; null on
 * a shared wallet.
 */
export function becomePaid(
  model: Model,
  payment: ModelPayment,
  transfer: ModelTransfer,
  accepted: boolean,
  parts: readonly ModelTransfer[] | null,
): void {
  const wasOpen = isUnfinished(payment);
  const was = accepted ? { accepted: true, transfer: moneyOf(transfer, reasonFor(payment, transfer)) } : {};
  move(model, payment, 'PAID');
  payment.paidAt = model.now;
  const together = parts === null ? null : [...parts, transfer].sort(inChain);
  for (const part of together ?? []) {
    const counted = { part: payment.id, counted: part.tokenUnits, pays: null, among: [payment.id] };
    Object.assign(part, { ...counted, reason: null, waitsFor: null, notified: true });
  }
  const { tokenUnits } = transfer;
  const paying = { pays: payment.id, among: [], reason: null, waitsFor: null };
  Object.assign(transfer, { ...paying, accepted: accepted ? tokenUnits : null });
  sendMessage(model, 'PaymentPaid', {
    payment_id: payment.id,
    merchant_id: payment.merchant,
    expected_amount: payment.amount,
    transaction_id: transfer.id,
    transaction_event_index: transfer.index,
    description: payment.description,
    paid_at: timestamp(model.now),
    ...(payment.orderId !== null && { order_id: payment.orderId }),
    ...(payment.priced !== null && { price: payment.priced.price, rate: payment.priced.rate }),
    ...was,
    ...(together !== null && sumOf(together)),
  });
  if (wasOpen) sayClosed(model, payment, 'PAID');
  countAnew(model, payment);
}

/** What a paid payment has received, as its event says it. */
const sumOf = (together: readonly ModelTransfer[]): object => ({
  received_amount: formatUnits(
    together.reduce((sum, { tokenUnits }) => sum + tokenUnits, 0n),
    together[0]!.decimals,
  ),
  transfers: together.map(({ id, index, tokenUnits, decimals }) => ({
    transaction_id: id,
    transaction_event_index: index,
    amount: formatUnits(tokenUnits, decimals),
  })),
});

/** Money that may be for several payments is not for one that has other money; but it keeps the last one. */
function countAnew(model: Model, paid: ModelPayment): void {
  for (const transfer of model.ledger.values()) {
    if (!transfer.among.includes(paid.id) || transfer.among.length === 1) continue;
    transfer.among = transfer.among.filter((id) => id !== paid.id);
    model.reached.push('candidates: counted again when one was paid');
  }
}

/** A transfer that has paid a payment was observed again, and it may not be there any more. */
export function noteIncident(model: Model, payment: ModelPayment, transfer: ModelTransfer, isExact: boolean): void {
  const paidWith = transfer.accepted ?? (isOwn(payment) ? transfer.counted : null);
  const isSame = paidWith === null ? isExact : paidWith === transfer.tokenUnits;
  if (transfer.phase !== 'retracted' && transfer.wallet === payment.wallet && isSame) return;
  model.incidents.add(payment.id);
  model.reached.push('reorganisation: an incident for a paid payment');
  if (isOwn(payment)) model.reached.push('reorganisation: an incident for a part of a paid payment');
}
