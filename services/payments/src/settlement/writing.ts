import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { Busy } from '@quittance/messaging/consumer/handler.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Checking, Paid, PaymentMessages } from '../payment/outgoing-messages.ts';
import { movePayments, type PaymentRow } from '../payment/payment.sql.ts';
import { openIncident } from './incident.sql.ts';
import {
  type Assignment,
  assignTransfers,
  insertTransfers,
  type TransferId,
  type TransferRow,
} from './transfer.sql.ts';
import { type Decided, isExplained } from './unmatched-notices.ts';

export type SettlementContext = {
  tx: Transaction;
  messages: PaymentMessages;
  logger: Logger;
  /** The trace of a transfer, when several are settled together. */
  traceparentOf?: (transfer: TransferId) => string | undefined;
};

/** `added`: the transfers that are not in the ledger yet. */
export type WritingContext = SettlementContext & { added?: Added };

/** Transfers that the ledger does not have, by their keys. */
export type Added = ReadonlyMap<string, { row: TransferRow; message: TransferObserved }>;

/**
 * Writes what transfers pay, those that the ledger does not have with their first observation.
 * @param isOther whether the ledger's row of a transfer differs from the given one.
 * @throws Busy with transfers that another transaction, for another wallet, has added to the ledger meanwhile.
 */
export async function writeDecisions(
  context: WritingContext,
  decided: readonly Decided[],
  isOther: (transfer: TransferRow) => boolean = () => false,
): Promise<void> {
  const { tx } = context;
  const assigned = decided.map(({ transfer, decision }) => ({
    transfer,
    assignment: decision.assignment,
    notified: transfer.notified || isExplained({ transfer, decision }),
    message: context.added?.get(transferKey(transfer))?.message,
  }));
  const changed = assigned.filter(
    ({ transfer, message, ...next }) => message === undefined && (isOther(transfer) || !hasAssignment(transfer, next)),
  );
  // A payment has one transfer, so the leaving one is written before the one that replaces it.
  const [leaving, paying] = [changed.filter(paysNothing), changed.filter((one) => !paysNothing(one))];
  if (leaving.length > 0) await assignTransfers(tx, leaving);
  const added = assigned.flatMap(({ message, ...one }) => (message === undefined ? [] : { ...one, message }));
  if (added.length > 0) {
    const written = new Set((await insertTransfers(tx, added)).map(transferKey));
    throwBusy(added.flatMap(({ message }) => (written.has(transferKey(message)) ? [] : message)));
  }
  if (paying.length > 0) await assignTransfers(tx, paying);
}

const paysNothing = ({ assignment }: { assignment: Assignment }): boolean => assignment.payment_id === null;

function hasAssignment(
  transfer: TransferRow,
  { assignment, notified }: { assignment: Assignment; notified: boolean },
): boolean {
  if (transfer.payment_id !== assignment.payment_id || transfer.notified !== notified) return false;
  if (assignment.payment_id !== null) return true;
  return (
    transfer.related_payment_id === assignment.related_payment_id &&
    transfer.reason === assignment.reason &&
    transfer.candidates?.join() === assignment.candidates?.join()
  );
}

type Move = { payment: PaymentRow; to: 'PENDING' | 'CHECKING' | 'PAID' };

/** Moves payments, each at most once, and writes the messages about it. @returns the payments that are PAID now. */
export async function moveAll(
  { tx, messages, traceparentOf }: SettlementContext,
  all: readonly (Pick<Paid, 'accepted' | 'parts'> & { transfer: TransferId; move: Move | null })[],
): Promise<Paid[]> {
  const paid: Paid[] = [];
  const moves = all.flatMap(({ move, ...one }) => (move === null ? [] : [{ ...one, ...move }]));
  for (const [to, group] of Map.groupBy(moves, (move) => move.to)) {
    const ids = group.map(({ payment }) => payment.payment_id);
    const moved = new Map((await movePayments(tx, ids, to)).map((payment) => [payment.payment_id, payment]));
    const done = group.map(({ payment: before, transfer, accepted, parts }): Paid & Checking => {
      const payment = moved.get(before.payment_id);
      // The payment is locked, so matching no row means that decide() and the state machine disagree.
      if (payment === undefined) throw new Error(`${before.payment_id} is ${before.status} and cannot become ${to}`);
      messages.countTransition(tx, before.status, to);
      return { payment, before: before.status, transfer, accepted, parts, traceparent: traceparentOf?.(transfer) };
    });
    if (to === 'PAID') {
      await messages.sendPaid(tx, done);
      paid.push(...done);
    }
    if (to === 'CHECKING') await messages.sendChecking(tx, done);
  }
  return paid;
}

/** PAID stays PAID, because the merchant was notified. A person has to find out whether the money is really gone. */
export async function reportMissingTransfer(
  { tx, logger }: SettlementContext,
  payment: PaymentRow,
  transfer: TransferRow,
): Promise<void> {
  await openIncident(tx, payment, transfer);
  const { network, transaction_id, transaction_event_index } = transfer;
  tx.afterCommit(() =>
    logger.error(
      { payment_id: payment.payment_id, network, transaction_id, transaction_event_index },
      'the transfer of a paid payment is gone from the chain',
    ),
  );
}

export function throwBusy(messages: readonly TransferObserved[]): void {
  if (messages.length > 0) throw new Busy(messages);
}

export const transferKey = ({ network, transaction_id, transaction_event_index }: TransferId): string =>
  `${network} ${transaction_id} ${transaction_event_index}`;
