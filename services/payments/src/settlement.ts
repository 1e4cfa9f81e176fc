import { AMOUNT_DECIMALS, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Announcer } from './announcer.ts';
import { isAsAccepted } from './store/acceptance.ts';
import { openIncident } from './store/incident.ts';
import { movePayment, type PaymentRow, type Slot } from './store/payment.ts';
import {
  assignTransfer,
  type Assignment,
  findLedgerTransfer,
  findNeighbours,
  lockPayment,
  lockRivals,
  lockSlotPayments,
  lockWallet,
  recordTransfer,
  type TransferRow,
} from './store/transfer.ts';
import { holderOf, secondAfter, unmatchedReason } from './windows.ts';

export type SettlementContext = { tx: Transaction; announcer: Announcer; logger: Logger };

/**
 * Takes in what the chain says of a transfer: the ledger row, the payment's new status and what has to be told about it are
 * written together. Old and repeated news change nothing.
 */
export async function observeTransfer(context: SettlementContext, message: TransferObserved): Promise<void> {
  await lockWallet(context.tx, message.network, message.to);
  const transfer = await recordTransfer(context.tx, message);
  if (transfer !== null) await settle(context, transfer);
}

/**
 * As observeTransfer(), for what chain-watcher answers when asked. A transfer that is no news but pays nothing is decided about
 * once more: its payment may not have existed when it was first heard of.
 * @returns 'contradicted' when the ledger has newer news, by which this transfer is not in the chain.
 */
export async function reviewTransfer(
  context: SettlementContext,
  message: TransferObserved,
): Promise<'taken' | 'contradicted'> {
  await lockWallet(context.tx, message.network, message.to);
  const news = await recordTransfer(context.tx, message);
  const transfer = news ?? (await findLedgerTransfer(context.tx, message, 'for update'));
  if (transfer === null) throw new Error('a transfer that was not recorded is in the ledger');
  if (transfer.phase === 'retracted' && message.phase !== 'retracted') return 'contradicted';
  if (news !== null || transfer.payment_id === null) await settle(context, transfer);
  return 'taken';
}

async function settle(context: SettlementContext, transfer: TransferRow): Promise<void> {
  const { tx } = context;
  const slot = await lockSlotPayments(tx, slotOf(transfer), transfer.block_timestamp);
  const holder = transfer.phase === 'retracted' ? null : holderOf(slot, transfer.block_timestamp);
  const assigned = transfer.payment_id === null ? null : await lockPayment(tx, transfer.payment_id);
  if (assigned?.status === 'PAID') {
    const stands = couldPay(transfer, assigned) || (await isAsAccepted(tx, transfer));
    if (!stands) await reportGone(context, assigned, transfer);
    return;
  }
  if (assigned === null || assigned.payment_id === holder?.payment_id) {
    await assignTransfer(tx, transfer, await place(context, transfer, slot, holder));
    return;
  }
  // A reorganisation took the transfer away, or brought it back later or with another amount.
  const freed = await move(context, assigned, 'PENDING');
  const slotNow = slot.map((payment) => (payment.payment_id === freed.payment_id ? freed : payment));
  await assignTransfer(tx, transfer, await place(context, { ...transfer, payment_id: null }, slotNow, holder));
  await giveToRival(context, freed, transfer);
}

/** Decides what a transfer means, and moves the payment it pays. */
async function place(
  context: SettlementContext,
  transfer: TransferRow,
  slot: PaymentRow[],
  holder: PaymentRow | null,
): Promise<Assignment> {
  if (transfer.phase === 'retracted') return { payment_id: null, related_payment_id: null, reason: null };
  if (holder === null) return placeUnmatched(context, transfer, slot);
  if (holder.status === 'PAID') return unmatched(holder, transfer);
  if (holder.status === 'CHECKING' && transfer.payment_id !== holder.payment_id) return unmatched(holder, transfer);
  if (transfer.phase === 'confirmed') {
    await pay(context, holder, transfer);
    return { payment_id: holder.payment_id };
  }
  // The money came in time but the payment is closed: nothing changes before the transfer is certain.
  if (holder.status === 'EXPIRED' || holder.status === 'CANCELLED') {
    return { payment_id: null, related_payment_id: holder.payment_id, reason: null };
  }
  if (holder.status === 'PENDING') await move(context, holder, 'CHECKING');
  return { payment_id: holder.payment_id };
}

async function placeUnmatched(
  { tx }: SettlementContext,
  transfer: TransferRow,
  slot: PaymentRow[],
): Promise<Assignment> {
  // The last payment begun before the block: the money came for it, but not in time.
  const begun = secondAfter(transfer.block_timestamp);
  const late = slot.findLast((payment) => payment.created_at < begun);
  if (late !== undefined) return unmatched(late, transfer);
  const meant = closest(await findNeighbours(tx, transfer), transfer);
  if (meant === null) return { payment_id: null, related_payment_id: null, reason: null };
  return unmatched(meant, transfer);
}

/** The payment waiting at the time with the nearest amount; if none waited then, the last one created. */
function closest(neighbours: PaymentRow[], transfer: TransferRow): PaymentRow | null {
  const waiting = neighbours.filter((payment) => holderOf([payment], transfer.block_timestamp) !== null);
  const distance = (payment: PaymentRow): bigint => {
    const difference = tokenUnitsOf(payment, transfer) - BigInt(transfer.amount_units);
    return difference < 0n ? -difference : difference;
  };
  const nearest = waiting.toSorted((a, b) => Number(distance(a) > distance(b)) - Number(distance(a) < distance(b)))[0];
  return nearest ?? neighbours[0] ?? null;
}

function unmatched(payment: PaymentRow, transfer: TransferRow): Assignment {
  const reason = unmatchedReason(
    { ...payment, tokenUnits: tokenUnitsOf(payment, transfer) },
    { tokenUnits: BigInt(transfer.amount_units), blockTime: transfer.block_timestamp },
  );
  return { payment_id: null, related_payment_id: payment.payment_id, reason };
}

/** Makes a transfer pay a payment, save for the ledger's own row. The payment must be locked, and its status allow it. */
export async function pay(context: SettlementContext, payment: PaymentRow, transfer: TransferRow): Promise<void> {
  const paid = await move(context, payment, 'PAID');
  await context.announcer.paid(context.tx, paid, payment.status, transfer);
}

/** The payment is locked, so losing the race means that the rule above and the state machine disagree. */
async function move(
  { tx, announcer }: SettlementContext,
  payment: PaymentRow,
  to: 'PENDING' | 'CHECKING' | 'PAID',
): Promise<PaymentRow> {
  const moved = await movePayment(tx, payment.payment_id, to);
  if (moved === null) throw new Error(`${payment.payment_id} is ${payment.status} and cannot become ${to}`);
  announcer.moved(tx, payment.status, to);
  return moved;
}

/** A payment that lost its transfer may have been paid by another one, which until now counted as a duplicate. */
async function giveToRival(context: SettlementContext, payment: PaymentRow, transfer: TransferRow): Promise<void> {
  for (const rival of await lockRivals(context.tx, payment, tokenUnitsOf(payment, transfer)))
    await settle(context, rival);
}

/** PAID stays PAID: the merchant was told. Whether the money is really gone is for a person to find out. */
async function reportGone(
  { tx, logger }: SettlementContext,
  payment: PaymentRow,
  transfer: TransferRow,
): Promise<void> {
  await openIncident(tx, payment, transfer);
  tx.afterCommit(() =>
    logger.error(
      {
        payment_id: payment.payment_id,
        network: transfer.network,
        transaction_id: transfer.transaction_id,
        transaction_event_index: transfer.transaction_event_index,
      },
      'the transfer of a paid payment is gone from the chain',
    ),
  );
}

const tokenUnitsOf = (payment: PaymentRow, transfer: TransferRow): bigint =>
  toTokenUnits(payment.amount_units, transfer.decimals);

/** Whether the transfer is in the chain with what this payment asks for. */
const couldPay = (transfer: TransferRow, payment: PaymentRow): boolean =>
  transfer.phase !== 'retracted' &&
  transfer.recipient === payment.recipient &&
  tokenUnitsOf(payment, transfer) === BigInt(transfer.amount_units);

/** The slot a transfer could pay into. One of a fraction of a millionth fits none, and no payment has an amount of 0. */
function slotOf(transfer: TransferRow): Slot {
  const unit = toTokenUnits(1n, transfer.decimals);
  const units = BigInt(transfer.amount_units);
  const fits = units % unit === 0n && units / unit <= MAX_AMOUNT_UNITS;
  return { network: transfer.network, recipient: transfer.recipient, amountUnits: fits ? units / unit : 0n };
}

/** The largest amount a payment can have, in millionths. */
const MAX_AMOUNT_UNITS = 10n ** BigInt(12 + AMOUNT_DECIMALS) - 1n;
