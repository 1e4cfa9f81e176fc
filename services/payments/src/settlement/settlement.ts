import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { Busy } from '@quittance/messaging/consumer/handler.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Checking } from '../notice-messages.ts';
import type { Paid, PaymentMessages } from '../payment-messages.ts';
import { isAcceptedUnchanged } from '../store/acceptance.ts';
import { openIncident } from '../store/incident.ts';
import { movePayments, type PaymentRow } from '../store/payment.ts';
import {
  assignTransfers,
  type Assignment,
  insertTransfers,
  lockCompetingTransfers,
  lockRecorded,
  lockWallets,
  recordTransfers,
  type TransferId,
  type TransferRow,
  tryLockWallets,
  unrecorded,
} from '../store/transfer.ts';
import { decide, matchOf, paysInFull, tokenUnitsOf } from './decision.ts';
import { LAG_ALLOWANCE_MS } from './payment-window.ts';
import { createWalletSearch, type LockedPayments, lockPaymentsOf } from './slots.ts';
import { type Decided, raiseUnmatched } from './unmatched-notices.ts';

export type SettlementContext = {
  tx: Transaction;
  messages: PaymentMessages;
  logger: Logger;
  /** The trace of a transfer, where several are settled together. */
  traceparentOf?: (transfer: TransferId) => string | undefined;
};

/** `added`: those of the transfers that are not in the ledger yet. */
type WritingContext = SettlementContext & { added?: Added };

/**
 * Applies what the chain shows of transfers: the ledger's rows, the payments' new status and the messages about it are written
 * together. Of one transfer only the newest version counts; old and repeated ones change nothing. Waits for no lock of a wallet or a
 * payment, because one that is held for long would hold up all others.
 * @throws Busy with the messages whose wallet or payment another transaction has locked.
 */
export async function observeTransfers(
  context: SettlementContext,
  messages: readonly TransferObserved[],
): Promise<void> {
  const { tx } = context;
  const wallets = new Map(messages.map((message) => [walletKey(message), { ...message, recipient: message.to }]));
  const busyWallets = new Set((await tryLockWallets(tx, [...wallets.values()])).map(walletKey));
  throwBusy(messages.filter((message) => busyWallets.has(walletKey(message))));
  const newest = newestVersions(messages);
  const { changed, added } = await compareWithLedger(tx, newest);
  // In the order of arrival, which decides which of two transfers pays a payment.
  const transfers = [...newest.keys()].flatMap((key) => changed.get(key) ?? added.get(key)?.row ?? []);
  const { payments, busy } = await lockPaymentsOf(tx, transfers, 'skip');
  const busyTransfers = new Set(busy.map(transferKey));
  throwBusy(messages.filter((message) => busyTransfers.has(transferKey(message))));
  await raiseUnmatched(context, await settle({ ...context, added }, transfers, payments));
}

/** Transfers that the ledger does not have, by their keys. */
type Added = ReadonlyMap<string, { row: TransferRow; message: TransferObserved }>;

/** Records what is newer of transfers that the ledger has. The others are written once it is decided what they pay. */
async function compareWithLedger(
  tx: Transaction,
  newest: ReadonlyMap<string, TransferObserved>,
): Promise<{ changed: ReadonlyMap<string, TransferRow>; added: Added }> {
  const known = new Set((await lockRecorded(tx, [...newest.values()])).map(transferKey));
  const again = [...newest].flatMap(([key, message]) => (known.has(key) ? [message] : []));
  const changed = again.length === 0 ? [] : await recordTransfers(tx, again);
  const added = [...newest].filter(([key]) => !known.has(key));
  return {
    changed: new Map(changed.map((row) => [transferKey(row), row])),
    added: new Map(added.map(([key, message]) => [key, { row: unrecorded(message), message }])),
  };
}

/**
 * Like observeTransfers(), for transfers that chain-watcher answers when asked, and waiting for the locks. A known transfer that pays
 * nothing is decided again: its payment may not have existed when the transfer was first observed.
 * @returns those of which the ledger has a newer version, in which they are not on the chain.
 */
export async function reviewTransfers(
  context: SettlementContext,
  messages: readonly TransferObserved[],
): Promise<TransferObserved[]> {
  const { tx } = context;
  await lockWallets(
    tx,
    messages.map(({ network, to }) => ({ network, recipient: to })),
  );
  const newest = newestVersions(messages);
  const recorded = new Set((await recordTransfers(tx, [...newest.values()])).map(transferKey));
  const rows = new Map((await lockRecorded(tx, [...newest.values()])).map((row) => [transferKey(row), row]));
  const contradicted: TransferObserved[] = [];
  const undecided: TransferRow[] = [];
  for (const [key, message] of newest) {
    const transfer = rows.get(key);
    if (transfer === undefined) throw new Error(`transfer ${key} is missing from the ledger`);
    if (transfer.phase === 'retracted' && message.phase !== 'retracted') contradicted.push(message);
    else if (recorded.has(key) || transfer.payment_id === null) undecided.push(transfer);
  }
  const decided = await settleWaiting(context, undecided);
  await raiseUnmatched(
    context,
    decided.filter(({ transfer }) => recorded.has(transferKey(transfer))),
  );
  return contradicted;
}

/** Makes a transfer pay a payment, except for the ledger's own row. The payment must be locked, and its status allow it. */
export async function pay(context: SettlementContext, payment: PaymentRow, transfer: TransferRow): Promise<void> {
  await moveAll(context, [{ transfer, move: { payment, to: 'PAID' } }]);
}

async function settleWaiting(context: SettlementContext, transfers: readonly TransferRow[]): Promise<Decided[]> {
  const { payments } = await lockPaymentsOf(context.tx, transfers, 'wait');
  return settle(context, transfers, payments);
}

/** Decides about transfers one after the other, then writes everything in a few statements. What is rare goes one by one. */
async function settle(
  context: WritingContext,
  transfers: readonly TransferRow[],
  payments: LockedPayments,
): Promise<Decided[]> {
  const searchWallet = createWalletSearch(context.tx, transfers);
  // What is decided here is not written yet, and a payment that was just paid waits for nothing any more.
  const findOnWallet = async (transfer: TransferRow): Promise<readonly PaymentRow[]> =>
    (await searchWallet(transfer)).map((payment) => payments.find(payment.payment_id) ?? payment);
  const decided: Decided[] = [];
  const uprooted: { transfer: TransferRow; assigned: PaymentRow }[] = [];
  for (const transfer of transfers) {
    const slot = payments.slotOf(transfer);
    const assigned = transfer.payment_id === null ? null : payments.find(transfer.payment_id);
    if (assigned === null && transfer.payment_id !== null) {
      reportArchived(context, transfer);
      continue;
    }
    const matches = assigned?.payment_id === matchOf(transfer, slot)?.payment_id;
    if (assigned === null || (assigned.status !== 'PAID' && matches)) {
      const decision = await decide(transfer, slot, findOnWallet);
      if (decision.move !== null) payments.replace({ ...decision.move.payment, status: decision.move.to });
      decided.push({ transfer, decision });
    } else uprooted.push({ transfer, assigned });
  }
  await write(context, decided);
  for (const { transfer, assigned } of uprooted) decided.push(...(await settleUprooted(context, transfer, assigned)));
  return decided;
}

/** It has paid that payment and pays no other one, whatever the chain shows of it months later. That is for a person to judge. */
function reportArchived({ tx, logger }: SettlementContext, transfer: TransferRow): void {
  const { payment_id, network, transaction_id, transaction_event_index, phase } = transfer;
  tx.afterCommit(() =>
    logger.error(
      { payment_id, network, transaction_id, transaction_event_index, phase },
      'the transfer of an archived payment was observed again',
    ),
  );
}

/** A transfer that no longer matches the payment it is to pay, or is observed again after that is PAID. */
async function settleUprooted(
  context: SettlementContext,
  transfer: TransferRow,
  assigned: PaymentRow,
): Promise<Decided[]> {
  if (assigned.status === 'PAID') {
    const stands = paysInFull(transfer, assigned) || (await isAcceptedUnchanged(context.tx, transfer));
    if (!stands) await reportMissingTransfer(context, assigned, transfer);
    return [];
  }
  // A reorg removed the transfer, or brought it back later or with another amount.
  await moveAll(context, [{ transfer, move: { payment: assigned, to: 'PENDING' } }]);
  const free = { ...transfer, payment_id: null };
  const { payments } = await lockPaymentsOf(context.tx, [free], 'wait');
  const decision = await decide(free, payments.slotOf(free), createWalletSearch(context.tx, [free]));
  await write(context, [{ transfer, decision }]);
  await reassign(context, assigned, transfer);
  return [{ transfer, decision }];
}

/** A payment that lost its transfer may have been paid by another one, which until now counted as a duplicate. */
async function reassign(context: SettlementContext, payment: PaymentRow, transfer: TransferRow): Promise<void> {
  const competing = await lockCompetingTransfers(context.tx, payment, {
    amountUnits: tokenUnitsOf(payment, transfer),
    minedAfter: new Date(payment.created_at.getTime() - LAG_ALLOWANCE_MS),
  });
  for (const competitor of competing) await settleWaiting(context, [competitor]);
}

/** @throws Busy with transfers that another transaction, for another wallet, has added to the ledger meanwhile. */
async function write(context: WritingContext, decided: readonly Decided[]): Promise<void> {
  await moveAll(
    context,
    decided.map(({ transfer, decision }) => ({ transfer, move: decision.move })),
  );
  const assigned = decided.map(({ transfer, decision: { assignment } }) => {
    return { transfer, assignment, message: context.added?.get(transferKey(transfer))?.message };
  });
  const added = assigned.flatMap(({ message, assignment }) => (message === undefined ? [] : { message, assignment }));
  if (added.length > 0) {
    const written = new Set((await insertTransfers(context.tx, added)).map(transferKey));
    throwBusy(added.flatMap(({ message }) => (written.has(transferKey(message)) ? [] : message)));
  }
  const changed = assigned.filter(
    ({ transfer, assignment, message }) => message === undefined && !hasAssignment(transfer, assignment),
  );
  if (changed.length > 0) await assignTransfers(context.tx, changed);
}

type Move = { payment: PaymentRow; to: 'PENDING' | 'CHECKING' | 'PAID' };

/** Moves payments, each at most once, and writes the messages about those that are PAID. */
async function moveAll(
  { tx, messages, traceparentOf }: SettlementContext,
  all: readonly { transfer: TransferRow; move: Move | null }[],
): Promise<void> {
  const moves = all.flatMap(({ transfer, move }) => (move === null ? [] : [{ transfer, ...move }]));
  for (const [to, group] of Map.groupBy(moves, (move) => move.to)) {
    const ids = group.map(({ payment }) => payment.payment_id);
    const moved = new Map((await movePayments(tx, ids, to)).map((payment) => [payment.payment_id, payment]));
    const done = group.map(({ payment: before, transfer }): Paid & Checking => {
      const payment = moved.get(before.payment_id);
      // The payment is locked, so matching no row means that decide() and the state machine disagree.
      if (payment === undefined) throw new Error(`${before.payment_id} is ${before.status} and cannot become ${to}`);
      messages.countTransition(tx, before.status, to);
      return { payment, before: before.status, transfer, traceparent: traceparentOf?.(transfer) };
    });
    if (to === 'PAID') await messages.sendPaid(tx, done);
    if (to === 'CHECKING') await messages.sendChecking(tx, done);
  }
}

/** PAID stays PAID, because the merchant was notified. Whether the money is really gone is for a person to find out. */
async function reportMissingTransfer(
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

function throwBusy(messages: readonly TransferObserved[]): void {
  if (messages.length > 0) throw new Busy(messages);
}

function newestVersions(messages: readonly TransferObserved[]): Map<string, TransferObserved> {
  const newest = new Map<string, TransferObserved>();
  for (const message of messages) {
    const key = transferKey(message);
    if (message.version > (newest.get(key)?.version ?? 0)) newest.set(key, message);
  }
  return newest;
}

const hasAssignment = (transfer: TransferRow, assignment: Assignment): boolean =>
  transfer.payment_id === assignment.payment_id &&
  (assignment.payment_id !== null ||
    (transfer.related_payment_id === assignment.related_payment_id && transfer.reason === assignment.reason));

export const transferKey = ({ network, transaction_id, transaction_event_index }: TransferId): string =>
  `${network} ${transaction_id} ${transaction_event_index}`;

const walletKey = (wallet: { network: string } & ({ to: string } | { recipient: string })): string =>
  `${wallet.network} ${'to' in wallet ? wallet.to : wallet.recipient}`;
