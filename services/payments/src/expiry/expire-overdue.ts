import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Chain } from '../clients.ts';
import type { PaymentMessages } from '../payment-messages.ts';
import { LAG_ALLOWANCE_MS } from '../settlement/payment-window.ts';
import { reviewTransfer } from '../settlement/settlement.ts';
import { claimOverdue, expirePayments, postponeExpiry } from '../store/expiry.ts';
import type { PaymentRow } from '../store/payment.ts';

/** As many payment windows as chain-watcher accepts in one question. */
const BATCH = 100;
/** Longer than asking and settling a batch takes, so that no two replicas ask about the same payments. */
const LEASE_MS = 30_000;
const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** For a wallet that chain-watcher has not scanned at all, such as one whose PaymentCreated has not arrived. */
const UNKNOWN_PAUSE_MS = 5000;

export type ExpiryContext = {
  db: Queryable;
  transact: Transact;
  chain: Chain;
  messages: PaymentMessages;
  logger: Logger;
};

/** One network's turn. */
type Round = ExpiryContext & { network: string; signal: AbortSignal };

/**
 * Expires payments of one network, but only those for which the chain proves that no money came: every block up to their expiry is
 * final and scanned. Transfers that turn up while asking are settled first, so a lost message can neither expire a paid payment nor
 * leave one CHECKING for ever.
 * @returns whether a full batch was claimed and finished, so that more may be waiting.
 */
export async function expireOverdue(round: Round): Promise<boolean> {
  const { db, chain, network } = round;
  // What expires after the network's scanned_through need not be checked, however many payments that is.
  const { scannedThrough } = await chain.transfersIn(network, []);
  if (scannedThrough === null) return false;
  const overdue = await claimOverdue(db, network, { expiredBy: scannedThrough, limit: BATCH, leaseMs: LEASE_MS });
  if (overdue.length === 0) return false;
  faultPoint('expiry-claimed');
  try {
    const postponed = await settleGroup(round, overdue);
    return overdue.length === BATCH && postponed === 0;
  } catch (error) {
    await postponeExpiry(db, idsOf(overdue), MIN_PAUSE_MS);
    throw error;
  }
}

/**
 * Asks about a group of payments with one question, settles the transfers in the answer, and expires the payments it is certain of.
 * The answer speaks for the whole group, so one wallet that is not fully scanned yet holds back all others: the group is then
 * halved, down to single payments.
 * @returns how many were postponed.
 */
async function settleGroup(round: Round, group: PaymentRow[]): Promise<number> {
  const { db, chain, network, signal } = round;
  signal.throwIfAborted();
  const { scannedThrough, transfers } = await chain.transfersIn(network, group.map(toChainWindow));
  const contradicted = await review(round, transfers);

  const through = scannedThrough?.getTime() ?? -Infinity;
  const isCovered = (payment: PaymentRow) => payment.expires_at.getTime() <= through;
  // A CHECKING payment is settled by the answer, or a message about its transfer is still to come.
  const isCertain = (payment: PaymentRow) =>
    payment.status === 'PENDING' && isCovered(payment) && !contradicted.has(payment.recipient);
  const certain = group.filter(isCertain);
  const uncertain = group.filter((payment) => !isCertain(payment));
  if (certain.length > 0) await expire(round, certain);
  if (uncertain.length === 0) return 0;

  if (!uncertain.every(isCovered) && uncertain.length > 1) {
    const half = Math.ceil(uncertain.length / 2);
    const postponed = await settleGroup(round, uncertain.slice(0, half));
    return postponed + (await settleGroup(round, uncertain.slice(half)));
  }
  await postponeExpiry(db, idsOf(uncertain), pauseFor(uncertain, through));
  return uncertain.length;
}

/** @returns the wallets for which the ledger has newer versions than the answer. */
async function review(round: Round, transfers: readonly TransferObserved[]): Promise<Set<string>> {
  const { network, transact, logger, signal } = round;
  const contradicted = new Set<string>();
  for (const transfer of transfers) {
    signal.throwIfAborted();
    const result = await transact((tx) => reviewTransfer({ ...round, tx }, transfer));
    if (result === 'contradicted') contradicted.add(transfer.to);
  }
  if (contradicted.size > 0) {
    logger.warn({ network, wallets: contradicted.size }, 'the chain answered an older version than the ledger has');
  }
  return contradicted;
}

async function expire({ transact, messages }: ExpiryContext, payments: PaymentRow[]): Promise<void> {
  await transact(async (tx) => {
    for (const expired of await expirePayments(tx, idsOf(payments))) {
      await messages.sendClosed(tx, expired, 'EXPIRED', expired.closed_at);
    }
  });
}

/**
 * A block may lag behind the payment's creation, and its transfer then still counts. Only transfers of the exact amount are asked
 * for: dust costs its sender next to nothing, and must not make the answer too long to read.
 */
const toChainWindow = (payment: PaymentRow) => ({
  recipient: payment.recipient,
  amount: payment.amount,
  from: new Date(payment.created_at.getTime() - LAG_ALLOWANCE_MS),
  to: payment.expires_at,
});

/** As long as the scan needs if it keeps pace with time, within bounds. */
function pauseFor(payments: PaymentRow[], through: number): number {
  if (through === -Infinity) return UNKNOWN_PAUSE_MS;
  const missing = Math.min(...payments.map((payment) => payment.expires_at.getTime() - through));
  return Math.min(Math.max(missing, MIN_PAUSE_MS), MAX_PAUSE_MS);
}

const idsOf = (payments: PaymentRow[]): string[] => payments.map((payment) => payment.payment_id);
