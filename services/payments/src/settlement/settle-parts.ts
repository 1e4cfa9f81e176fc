import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { PaymentRow } from '../payment/payment.sql.ts';
import { isUnfinished } from '../payment/state.ts';
import { isAcceptedUnchanged } from '../acceptance/acceptance.sql.ts';
import { claimIn, type Decision, paysInFull } from './decision.ts';
import { decidePart, isDedicated, statusOf } from './parts.ts';
import {
  addUpParts,
  assignPayer,
  countParts,
  explainParts,
  haveAmountsChanged,
  type PaidParts,
  type Reached,
  recordPaidParts,
  releaseParts,
} from './parts.sql.ts';
import { moveAll, reportMissingTransfer, writeDecisions, type WritingContext } from './writing.ts';
import type { LockedPayments } from './slots.ts';
import { dropCandidates, type TransferId, type TransferRow } from './transfer.sql.ts';
import type { Decided } from './unmatched-notices.ts';

/** Whether a transfer is, or was, to an address that one payment has for itself. */
export function isPart(transfer: TransferRow, payments: LockedPayments): boolean {
  const before = paymentOf(transfer, payments);
  return payments.holdersOf(transfer).length > 0 || (before !== null && isDedicated(before));
}

const paymentOf = ({ payment_id: pays, related_payment_id: related }: TransferRow, payments: LockedPayments) =>
  payments.find(pays ?? related ?? '');

/** A payment that was CHECKING, and the transfer that no longer pays it. */
export type Freed = { payment: PaymentRow; transfer: TransferRow };

type SettledParts = {
  decided: Decided[];
  /** Transfers that payments on shared addresses may get: a reorganisation has moved them, or such a payment is for the same order. */
  others: TransferRow[];
  /** Payments on shared addresses whose transfer a reorganisation has moved to one of these. */
  freed: Freed[];
  /** The payments that are PAID now. */
  paid: PaymentRow[];
};

/** Writes what these transfers are, and then moves each payment to the status that its transfers add up to. */
export async function settleParts(
  context: WritingContext,
  transfers: readonly TransferRow[],
  payments: LockedPayments,
): Promise<SettledParts> {
  const affected = new Map<string, PaymentRow>();
  const decided: Decided[] = [];
  const gone: TransferRow[] = [];
  const others: TransferRow[] = [];
  const freed: Freed[] = [];
  for (const transfer of transfers) {
    const before = paymentOf(transfer, payments);
    if (before?.status === 'PAID' && (transfer.counted || transfer.payment_id !== null)) {
      await requirePart(context, before, transfer);
      continue;
    }
    const holders = payments.holdersOf(transfer);
    for (const payment of [...holders, ...(before === null ? [] : [before])])
      if (isDedicated(payment)) affected.set(payment.payment_id, payment);
    const decision =
      holders.length > 0 ? decidePart(transfer, holders, rivalsOf(transfer, payments)) : decideWithoutHolder(transfer);
    if (decision !== null) {
      decided.push({ transfer, decision });
      if (before !== null && !isDedicated(before) && transfer.payment_id !== null)
        freed.push({ payment: before, transfer });
    } else if (before !== null && isDedicated(before)) gone.push(transfer);
    else others.push(transfer);
  }
  const open = [...affected.values()].filter(({ status }) => status !== 'PAID');
  const released = await releaseParts(context.tx, open.map(idOf));
  await writeDecisions(context, [...decided, ...gone.map((transfer) => ({ transfer, decision: nothing }))]);
  await moveAll(
    context,
    freed.map(({ payment, transfer }) => ({ transfer, move: { payment, to: 'PENDING' } })),
  );
  for (const { payment } of freed) payments.replace({ ...payment, status: 'PENDING' });
  const { told, paid } = await moveByParts(context, open, released);
  for (const payment of paid) payments.replace(payment);
  const left = gone.map((one) => ({ ...one, ...nothing.assignment }));
  return { decided: [...decided, ...told], others: [...others, ...left], freed, paid };
}

const idOf = ({ payment_id: id }: PaymentRow): string => id;

const nothing: Decision = {
  assignment: { payment_id: null, related_payment_id: null, candidates: null, reason: null },
  move: null,
};

/** @returns null for a transfer that has left such an address. */
const decideWithoutHolder = ({ phase }: TransferRow): Decision | null => (phase === 'retracted' ? nothing : null);

/** The payments that share the address because a rest was ended early, and that a transfer could pay. */
function rivalsOf(transfer: TransferRow, payments: LockedPayments): PaymentRow[] {
  if (!payments.holdersOf(transfer).some(({ released_at: released }) => released !== null)) return [];
  const claim = claimIn(transfer, payments.slotOf(transfer));
  if (claim.kind === 'none') return [];
  return claim.kind === 'one' ? [claim.payment] : claim.candidates;
}

/** @param open payments that are not PAID. @returns those that are now, and the parts that have just got a reason. */
async function moveByParts(
  context: WritingContext,
  open: readonly PaymentRow[],
  released: ReadonlyMap<string, TransferId>,
): Promise<{ paid: PaymentRow[]; told: Decided[] }> {
  const { tx } = context;
  const reached = open.length === 0 ? new Map<string, Reached>() : await addUpParts(tx, open.map(idOf));
  const paid: PaymentRow[] = [];
  const told: Decided[] = [];
  for (const payment of open) {
    const parts = reached.get(payment.payment_id) ?? { confirmed: null, seen: null };
    const status = statusOf(payment, parts);
    if (status?.to === 'PAID') paid.push(await payByParts(context, payment, status.payer));
    else if (status?.to === 'CHECKING') {
      await assignPayer(tx, payment.payment_id, status.payer);
      if (payment.status === 'PENDING')
        await moveAll(context, [{ transfer: status.payer, move: { payment, to: 'CHECKING' } }]);
    } else if (status?.to === 'PENDING' && payment.status === 'CHECKING') {
      await moveAll(context, [{ transfer: payerOf(payment, released), move: { payment, to: 'PENDING' } }]);
    } else if (!isUnfinished(payment.status)) {
      const explained = await explainParts(tx, payment.payment_id, parts.seen === null ? 'underpaid' : null);
      told.push(...explained.map((transfer) => ({ transfer, decision: underpaid(payment) })));
    }
  }
  return { paid, told };
}

function payerOf({ payment_id: id }: PaymentRow, released: ReadonlyMap<string, TransferId>): TransferId {
  const payer = released.get(id);
  if (payer === undefined) throw new Error(`${id} is CHECKING without a transfer`);
  return payer;
}

const underpaid = ({ payment_id: id }: PaymentRow): Decision => ({
  assignment: { payment_id: null, related_payment_id: id, candidates: null, reason: 'underpaid' },
  move: null,
});

async function payByParts(context: WritingContext, payment: PaymentRow, payer: TransferRow): Promise<PaymentRow> {
  const { tx } = context;
  // What does not count is decided again: it was sent twice, or is too much.
  if (!isUnfinished(payment.status)) await explainParts(tx, payment.payment_id, null);
  await assignPayer(tx, payment.payment_id, payer);
  await countParts(tx, payment.payment_id, 'in time');
  const parts = await recordPaidParts(tx, payment.payment_id, payer);
  const [moved] = await moveAll(context, [{ transfer: payer, move: { payment, to: 'PAID' }, parts }]);
  if (moved === undefined) throw new Error(`${payment.payment_id} was not paid`);
  await dropCandidates(tx, [payment.payment_id]);
  return moved.payment;
}

/** Counts everything that has arrived at the address of a payment that somebody accepts a transfer for. */
export async function countAllParts(
  tx: Transaction,
  { payment_id: id }: PaymentRow,
  payer: TransferRow,
): Promise<PaidParts> {
  await releaseParts(tx, [id]);
  // As in payByParts().
  await explainParts(tx, id, null);
  await countParts(tx, id, 'all');
  return recordPaidParts(tx, id, payer);
}

/** A transfer that has paid a payment was observed again: it must still be there, because the merchant was notified of that. */
async function requirePart(context: WritingContext, paid: PaymentRow, transfer: TransferRow): Promise<void> {
  const stands = (await isAcceptedUnchanged(context.tx, transfer)) ?? (await doesPartStand(context, paid, transfer));
  if (!stands) await reportMissingTransfer(context, paid, transfer);
}

async function doesPartStand({ tx }: WritingContext, paid: PaymentRow, transfer: TransferRow): Promise<boolean> {
  if (!isDedicated(paid)) return paysInFull(transfer, paid);
  const isThere = transfer.phase !== 'retracted' && transfer.recipient === paid.recipient;
  return isThere && !(await haveAmountsChanged(tx, paid.payment_id));
}
