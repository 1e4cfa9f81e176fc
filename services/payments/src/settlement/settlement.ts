import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { AcceptedTransfer, Paid } from '../payment/outgoing-messages.ts';
import { isAcceptedUnchanged } from '../acceptance/acceptance.sql.ts';
import type { PaymentRow } from '../payment/payment.sql.ts';
import {
  dropCandidates,
  lockCompetingTransfers,
  lockOpen,
  lockPaying,
  lockRecorded,
  lockWallets,
  recordTransfers,
  type TransferRow,
  tryLockWallets,
  unrecorded,
} from './transfer.sql.ts';
import { claimIn, decide, isClaimedBy, paysInFull, tokenUnitsOf, withoutCandidate } from './decision.ts';
import { isDedicated } from './parts.ts';
import { CLOCK_REACH_MS, isInsideWindow } from './payment-window.ts';
import { countAllParts, type Freed, isPart, settleParts } from './settle-parts.ts';
import { createWalletSearch, type LockedPayments, lockPaymentsOf } from './slots.ts';
import { type Decided, raiseUnmatched } from './unmatched-notices.ts';
import {
  type Added,
  moveAll,
  reportMissingTransfer,
  type SettlementContext,
  throwBusy,
  transferKey,
  writeDecisions,
  type WritingContext,
} from './writing.ts';

/**
 * Applies what the chain shows of transfers: the ledger's rows, the payments' new status and the messages about it are written together.
 * Only the newest version of a transfer counts; old and repeated ones change nothing. Waits for no lock of a wallet or a payment, because
 * one that is held for long would block all others.
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

/** Records newer versions of transfers that the ledger has. The others are written after the decision what they pay. */
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
 * Like observeTransfers(), for transfers that chain-watcher returns on request, and it waits for the locks. A known transfer that pays
 * nothing is decided again: its payment may not have existed when the transfer was first observed.
 * @returns the transfers of which the ledger has a newer version that is not on the chain.
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
  await raiseUnmatched(context, await settleWaiting(context, undecided));
  return contradicted;
}

/**
 * Makes a transfer pay a payment because somebody accepted it. The payment must be locked, and its status allow it.
 * @param record writes the acceptance and the ledger's own row.
 */
export async function pay(
  context: SettlementContext,
  payment: PaymentRow,
  accepted: AcceptedTransfer,
  record: () => Promise<void>,
): Promise<void> {
  const parts = isDedicated(payment) ? await countAllParts(context.tx, payment, accepted.transfer) : undefined;
  const move = { payment, to: 'PAID' } as const;
  const paid = await moveAll(context, [{ transfer: accepted.transfer, move, accepted, parts }]);
  await record();
  await dropCandidates(context.tx, paid.map(idOfPaid));
  await settleOpen(context, paid.map(paymentOf));
}

/** Decides transfers that were left open while these payments were waiting. Call it when they have ended. */
export async function settleOpen(context: SettlementContext, ended: readonly PaymentRow[]): Promise<void> {
  if (ended.length === 0) return;
  const open = await lockOpen(context.tx, ended, CLOCK_REACH_MS);
  if (open.length > 0) await raiseUnmatched(context, await settleWaiting(context, open));
}

async function settleWaiting(context: SettlementContext, transfers: readonly TransferRow[]): Promise<Decided[]> {
  const { payments } = await lockPaymentsOf(context.tx, transfers, 'wait');
  // Open transfers are in the ledger, even those that the current batch has added.
  return settle({ ...context, added: new Map() }, transfers, payments);
}

/** Decides transfers to addresses that one payment has for itself, then the others. */
async function settle(
  context: WritingContext,
  transfers: readonly TransferRow[],
  payments: LockedPayments,
): Promise<Decided[]> {
  const [parts, shared] = [
    transfers.filter((one) => isPart(one, payments)),
    transfers.filter((one) => !isPart(one, payments)),
  ];
  if (parts.length === 0) return settleShared(context, shared, payments);
  const { decided, others, freed, paid } = await settleParts(context, parts, payments);
  const written = await settleShared(context, [...shared, ...others], payments);
  written.push(...(await reassignAll(context, freed, payments)));
  await settleOpen(context, paid);
  return [...decided, ...written];
}

/** Decides transfers one after the other, then writes everything in a few statements. Rare cases are written one by one. */
async function settleShared(
  context: WritingContext,
  transfers: readonly TransferRow[],
  payments: LockedPayments,
): Promise<Decided[]> {
  const searchWallet = createWalletSearch(context.tx, transfers);
  // Decisions are not written yet, and a payment that was just paid no longer waits for money.
  const findOnWallet = async (transfer: TransferRow): Promise<readonly PaymentRow[]> =>
    (await searchWallet(transfer)).map((payment) => payments.find(payment.payment_id) ?? payment);
  const decided = new Map<string, Decided>();
  const freed: Freed[] = [];
  const free = (payment: PaymentRow, transfer: TransferRow): TransferRow => {
    const isMovedHere = [...decided.values()].some(
      ({ decision: { move } }) => move?.payment.payment_id === payment.payment_id,
    );
    if (!isMovedHere) freed.push({ payment, transfer });
    payments.replace({ ...payment, status: 'PENDING' });
    return { ...transfer, payment_id: null };
  };
  // Transfers that no longer pay come first: another transfer of the same batch may take their place.
  const queue = new Map<string, TransferRow>();
  for (const transfer of transfers) {
    const key = transferKey(transfer);
    const assigned = transfer.payment_id === null ? null : payments.find(transfer.payment_id);
    if (assigned?.status === 'PAID') await requireStanding(context, assigned, transfer);
    else if (assigned === null && (transfer.payment_id !== null || transfer.counted)) reportArchived(context, transfer);
    else if (assigned === null || isClaimedBy(assigned, transfer, payments.slotOf(transfer))) queue.set(key, transfer);
    else queue.set(key, free(assigned, transfer));
  }
  for (const [key, transfer] of queue) {
    const slot = payments.slotOf(transfer);
    const weaker = await findWeaker(context, transfer, slot, decided);
    if (weaker !== null) {
      const weakerKey = transferKey(weaker.transfer);
      const released = free(weaker.payment, queue.get(weakerKey) ?? weaker.transfer);
      decided.delete(weakerKey);
      // It is decided after this one.
      queue.delete(weakerKey);
      queue.set(weakerKey, released);
    }
    const decision = await decide(transfer, payments.slotOf(transfer), findOnWallet);
    if (decision.move !== null) payments.replace({ ...decision.move.payment, status: decision.move.to });
    if (decision.move?.to === 'PAID') dropCandidate(decided, decision.move.payment);
    decided.set(key, { transfer, decision });
  }
  const written = [...decided.values()];
  await write(context, written, freed);
  written.push(...(await reassignAll(context, freed, payments)));
  return written;
}

async function reassignAll(
  context: SettlementContext,
  freed: readonly Freed[],
  payments: LockedPayments,
): Promise<Decided[]> {
  const written: Decided[] = [];
  for (const one of freed)
    if (payments.find(one.payment.payment_id)?.status === 'PENDING') written.push(...(await reassign(context, one)));
  return written;
}

/** Removes a PAID payment from the candidates of earlier decisions; later ones already know that it is PAID. */
function dropCandidate(decided: Map<string, Decided>, { payment_id: paid }: PaymentRow): void {
  for (const [key, one] of decided) decided.set(key, { ...one, decision: withoutCandidate(one.decision, paid) });
}

/**
 * The transfer that a CHECKING payment waits for, if only the end of its interval reaches the payment's window: a transfer inside the
 * window takes precedence.
 */
async function findWeaker(
  { tx }: SettlementContext,
  transfer: TransferRow,
  slot: readonly PaymentRow[],
  decided: ReadonlyMap<string, Decided>,
): Promise<Freed | null> {
  const claim = claimIn(transfer, slot);
  if (transfer.is_held || claim.kind !== 'one' || !claim.isInside || claim.payment.status !== 'CHECKING') return null;
  const { payment } = claim;
  if (transfer.payment_id === payment.payment_id) return null;
  const here = [...decided.values()].find(({ decision }) => decision.assignment.payment_id === payment.payment_id);
  const paying = here?.transfer ?? (await lockPaying(tx, payment.payment_id));
  return paying === null || isInsideWindow(payment, paying) ? null : { payment, transfer: paying };
}

/** The transfer has paid that payment and pays no other one, whatever the chain shows months later. A person has to judge that. */
function reportArchived({ tx, logger }: SettlementContext, transfer: TransferRow): void {
  const { payment_id, network, transaction_id, transaction_event_index, phase } = transfer;
  tx.afterCommit(() =>
    logger.error(
      { payment_id, network, transaction_id, transaction_event_index, phase },
      'the transfer of an archived payment was observed again',
    ),
  );
}

/** A PAID payment's transfer was observed again: it must still match what paid the payment, because the merchant was notified of that. */
async function requireStanding(context: SettlementContext, paid: PaymentRow, transfer: TransferRow): Promise<void> {
  const stands = (await isAcceptedUnchanged(context.tx, transfer)) ?? paysInFull(transfer, paid);
  if (!stands) await reportMissingTransfer(context, paid, transfer);
}

/** A payment that lost its transfer may have been paid by another one, which counted as a duplicate until now. */
async function reassign(context: SettlementContext, { payment, transfer }: Freed): Promise<Decided[]> {
  const competing = await lockCompetingTransfers(context.tx, payment, tokenUnitsOf(payment, transfer), {
    from: new Date(payment.created_at.getTime() - CLOCK_REACH_MS),
    to: new Date(payment.expires_at.getTime() + CLOCK_REACH_MS),
  });
  const decided: Decided[] = [];
  // A transfer inside the window takes precedence over one that only the end of its interval lets in, confirmed or not.
  const inside = (one: TransferRow) => Number(isInsideWindow(payment, one));
  for (const competitor of competing.toSorted((a, b) => inside(b) - inside(a)))
    decided.push(...(await settleWaiting(context, [competitor])));
  return decided;
}

/** @throws Busy with transfers that another transaction, for another wallet, has added to the ledger meanwhile. */
async function write(context: WritingContext, decided: readonly Decided[], freed: readonly Freed[]): Promise<void> {
  const { tx } = context;
  await moveAll(
    context,
    freed.map(({ payment, transfer }) => ({ transfer, move: { payment, to: 'PENDING' } })),
  );
  const paid = await moveAll(
    context,
    decided.map(({ transfer, decision }) => ({ transfer, move: decision.move })),
  );
  // Before the decisions are written: later decisions already know which payments are PAID.
  const paidIds = paid.map(idOfPaid);
  if (paid.length > 0) await dropCandidates(tx, paidIds);
  // The ledger's row of a transfer that left its payment still names it, and PAID candidates were just removed from the rows.
  const left = new Set(freed.map(({ transfer }) => transferKey(transfer)));
  const isOther = (transfer: TransferRow): boolean =>
    left.has(transferKey(transfer)) || paidIds.some((id) => transfer.candidates?.includes(id));
  await writeDecisions(context, decided, isOther);
  // Transfers that came after their end get a reason now.
  await settleOpen(context, paid.map(paymentOf));
}

const paymentOf = ({ payment }: Paid): PaymentRow => payment;
const idOfPaid = ({ payment }: Paid): string => payment.payment_id;

function newestVersions(messages: readonly TransferObserved[]): Map<string, TransferObserved> {
  const newest = new Map<string, TransferObserved>();
  for (const message of messages) {
    const key = transferKey(message);
    if (message.version > (newest.get(key)?.version ?? -1)) newest.set(key, message);
  }
  return newest;
}

const walletKey = (wallet: { network: string } & ({ to: string } | { recipient: string })): string =>
  `${wallet.network} ${'to' in wallet ? wallet.to : wallet.recipient}`;
