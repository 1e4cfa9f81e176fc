import { MAX_AMOUNT_UNITS, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { PaymentMessages } from '../payment-messages.ts';
import { isAcceptedUnchanged } from '../store/acceptance.ts';
import { openIncident } from '../store/incident.ts';
import {
  findPaymentsOnWallet,
  findPayment,
  lockSlotPayments,
  movePayment,
  type PaymentRow,
  type Slot,
} from '../store/payment.ts';
import {
  assignTransfer,
  type Assignment,
  findTransfer,
  lockCompetingTransfers,
  lockWallet,
  recordTransfer,
  type TransferRow,
} from '../store/transfer.ts';
import { LAG_ALLOWANCE_MS, matchPayment, startOfNextSecond, unmatchedReason } from './payment-window.ts';

export type SettlementContext = { tx: Transaction; messages: PaymentMessages; logger: Logger };

/**
 * Applies what the chain shows of a transfer: the ledger row, the payment's new status and the messages about it are written
 * together. Old and repeated versions change nothing.
 */
export async function observeTransfer(context: SettlementContext, message: TransferObserved): Promise<void> {
  await lockWallet(context.tx, message.network, message.to);
  const transfer = await recordTransfer(context.tx, message);
  if (transfer !== null) await settle(context, transfer);
}

/**
 * Like observeTransfer(), for transfers that chain-watcher answers when asked. A known transfer that pays nothing is decided again:
 * its payment may not have existed when the transfer was first observed.
 * @returns 'contradicted' when the ledger has a newer version, in which this transfer is not on the chain.
 */
export async function reviewTransfer(
  context: SettlementContext,
  message: TransferObserved,
): Promise<'applied' | 'contradicted'> {
  await lockWallet(context.tx, message.network, message.to);
  const recorded = await recordTransfer(context.tx, message);
  const transfer = recorded ?? (await findTransfer(context.tx, message, 'for update'));
  if (transfer === null) {
    const { network, transaction_id, transaction_event_index } = message;
    throw new Error(`transfer ${network} ${transaction_id} ${transaction_event_index} is missing from the ledger`);
  }
  if (transfer.phase === 'retracted' && message.phase !== 'retracted') return 'contradicted';
  if (recorded !== null || transfer.payment_id === null) await settle(context, transfer);
  return 'applied';
}

async function settle(context: SettlementContext, transfer: TransferRow): Promise<void> {
  const { tx } = context;
  const { block_timestamp: blockTime } = transfer;
  const slot = await lockSlotPayments(tx, slotOf(transfer), {
    startedBefore: startOfNextSecond(blockTime),
    createdBefore: endOfLag(blockTime),
  });
  const match = transfer.phase === 'retracted' ? null : matchPayment(slot, blockTime);
  const assigned = transfer.payment_id === null ? null : await findPayment(tx, transfer.payment_id, 'for update');
  if (assigned?.status === 'PAID') {
    const stands = paysInFull(transfer, assigned) || (await isAcceptedUnchanged(tx, transfer));
    if (!stands) await reportMissingTransfer(context, assigned, transfer);
    return;
  }
  if (assigned === null || assigned.payment_id === match?.payment_id) {
    await assignTransfer(tx, transfer, await decide(context, transfer, slot, match));
    return;
  }
  // A reorg removed the transfer, or brought it back later or with another amount.
  const freed = await move(context, assigned, 'PENDING');
  const slotNow = slot.map((payment) => (payment.payment_id === freed.payment_id ? freed : payment));
  await assignTransfer(tx, transfer, await decide(context, { ...transfer, payment_id: null }, slotNow, match));
  await reassign(context, freed, transfer);
}

/** Decides what a transfer pays, and moves that payment. */
async function decide(
  context: SettlementContext,
  transfer: TransferRow,
  slot: PaymentRow[],
  match: PaymentRow | null,
): Promise<Assignment> {
  if (transfer.phase === 'retracted') return unrelated;
  if (match === null) return decideUnmatched(context, transfer, slot);
  if (match.status === 'PAID') return unmatched(match, transfer);
  if (match.status === 'CHECKING' && transfer.payment_id !== match.payment_id) return unmatched(match, transfer);
  if (transfer.phase === 'confirmed') {
    await pay(context, match, transfer);
    return { payment_id: match.payment_id };
  }
  // The money came in time but the payment is closed: nothing changes before the transfer is confirmed.
  if (match.status === 'EXPIRED' || match.status === 'CANCELLED') {
    return { payment_id: null, related_payment_id: match.payment_id, reason: null };
  }
  if (match.status === 'PENDING') await move(context, match, 'CHECKING');
  return { payment_id: match.payment_id };
}

async function decideUnmatched(
  { tx }: SettlementContext,
  transfer: TransferRow,
  slot: PaymentRow[],
): Promise<Assignment> {
  // The last payment started before the block: the money was meant for it, but did not come in time.
  const started = startOfNextSecond(transfer.block_timestamp);
  const late = slot.findLast((payment) => payment.created_at < started);
  if (late !== undefined) return unmatched(late, transfer);
  const candidates = await findPaymentsOnWallet(tx, transfer, endOfLag(transfer.block_timestamp));
  const intended = closestAmount(candidates, transfer);
  return intended === null ? unrelated : unmatched(intended, transfer);
}

/** The payment waiting at the time with the nearest amount; if none was waiting then, the last one created. */
function closestAmount(candidates: PaymentRow[], transfer: TransferRow): PaymentRow | null {
  const waiting = candidates.filter((payment) => matchPayment([payment], transfer.block_timestamp) !== null);
  const distance = (payment: PaymentRow): bigint => {
    const difference = tokenUnitsOf(payment, transfer) - BigInt(transfer.amount_units);
    return difference < 0n ? -difference : difference;
  };
  const nearest = waiting.toSorted((a, b) => Number(distance(a) > distance(b)) - Number(distance(a) < distance(b)))[0];
  return nearest ?? candidates[0] ?? null;
}

const unrelated: Assignment = { payment_id: null, related_payment_id: null, reason: null };

function unmatched(payment: PaymentRow, transfer: TransferRow): Assignment {
  const reason = unmatchedReason(
    { ...payment, tokenUnits: tokenUnitsOf(payment, transfer) },
    { tokenUnits: BigInt(transfer.amount_units), blockTime: transfer.block_timestamp },
  );
  return { payment_id: null, related_payment_id: payment.payment_id, reason };
}

/** Makes a transfer pay a payment, except for the ledger's own row. The payment must be locked, and its status allow it. */
export async function pay(context: SettlementContext, payment: PaymentRow, transfer: TransferRow): Promise<void> {
  const paid = await move(context, payment, 'PAID');
  await context.messages.sendPaid(context.tx, paid, payment.status, transfer);
}

/** The payment is locked, so matching no row means that the rule above and the state machine disagree. */
async function move(
  { tx, messages }: SettlementContext,
  payment: PaymentRow,
  to: 'PENDING' | 'CHECKING' | 'PAID',
): Promise<PaymentRow> {
  const moved = await movePayment(tx, payment.payment_id, to);
  if (moved === null) throw new Error(`${payment.payment_id} is ${payment.status} and cannot become ${to}`);
  messages.countTransition(tx, payment.status, to);
  return moved;
}

/** A payment that lost its transfer may have been paid by another one, which until now counted as a duplicate. */
async function reassign(context: SettlementContext, payment: PaymentRow, transfer: TransferRow): Promise<void> {
  const competing = await lockCompetingTransfers(context.tx, payment, {
    amountUnits: tokenUnitsOf(payment, transfer),
    minedAfter: new Date(payment.created_at.getTime() - LAG_ALLOWANCE_MS),
  });
  for (const competitor of competing) await settle(context, competitor);
}

/** PAID stays PAID, because the merchant was notified. Whether the money is really gone is for a person to find out. */
async function reportMissingTransfer(
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

const endOfLag = (blockTime: Date): Date => new Date(blockTime.getTime() + LAG_ALLOWANCE_MS);

/** Whether the transfer is on the chain with what this payment asks for. */
const paysInFull = (transfer: TransferRow, payment: PaymentRow): boolean =>
  transfer.phase !== 'retracted' &&
  transfer.recipient === payment.recipient &&
  tokenUnitsOf(payment, transfer) === BigInt(transfer.amount_units);

/** The slot a transfer could pay into. A fraction of a millionth fits none, which 0 stands for: no payment has that amount. */
function slotOf(transfer: TransferRow): Slot {
  const unit = toTokenUnits(1n, transfer.decimals);
  const units = BigInt(transfer.amount_units);
  const fits = units % unit === 0n && units / unit <= MAX_AMOUNT_UNITS;
  return { network: transfer.network, recipient: transfer.recipient, amountUnits: fits ? units / unit : 0n };
}
