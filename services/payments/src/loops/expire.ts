import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { Announcer } from '../announcer.ts';
import type { Chain } from '../clients.ts';
import { reviewTransfer } from '../settlement.ts';
import { claimOverdue, expirePayments, measureExpiryLag, postponeExpiry } from '../store/expiry.ts';
import type { PaymentRow } from '../store/payment.ts';
import { LAG_ALLOWANCE_MS } from '../windows.ts';

/** As many windows as chain-watcher takes in one question. */
const BATCH = 100;
const INTERVAL_MS = 1000;
/** Longer than asking and settling a batch takes, so that no two replicas ask about the same payments. */
const LEASE_MS = 30_000;
const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** For a wallet that chain-watcher cannot vouch for at all, such as one it has not heard of yet. */
const UNKNOWN_PAUSE_MS = 5000;

export type ExpiryContext = {
  db: Queryable;
  /** Runs one database transaction. */
  transact: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  chain: Chain;
  announcer: Announcer;
  networks: readonly Network[];
  logger: Logger;
  metrics: Metrics;
};

/** One network's turn. */
type Round = ExpiryContext & { network: string; signal: AbortSignal };

/**
 * Expires payments, but only those of which the chain says for certain that no money came: every block up to their expiry is final
 * and scanned. Transfers that turn up while asking are settled first, so a lost message cannot expire a paid payment, nor leave
 * one CHECKING for ever.
 */
export function startExpireLoop(context: ExpiryContext): Loop {
  const { db, networks, logger, metrics } = context;
  const lag = metrics.gauge(
    'payment_expiry_lag_seconds',
    'How long the longest overdue payment waits past its expiry',
    ['network'],
  );
  return startLoop({
    name: 'expire',
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async (signal) => {
      const failures: unknown[] = [];
      let more = false;
      // One after the other, but a network that cannot be asked about stops no other.
      for (const { id } of networks) {
        if (signal.aborted) break;
        try {
          const overdueSeconds = await measureExpiryLag(db, id);
          lag.set({ network: id }, overdueSeconds);
          if (overdueSeconds > 0) more = (await expireOverdue({ ...context, network: id, signal })) || more;
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'some networks could not be looked at');
      return { more };
    },
  });
}

/** @returns whether a full batch was claimed and done with, so that more may be waiting. */
async function expireOverdue(round: Round): Promise<boolean> {
  const { db, chain, network } = round;
  // While the whole network is not known further, what expires later need not be looked at, however much it is.
  const { scannedThrough } = await chain.transfersIn(network, []);
  if (scannedThrough === null) return false;
  const overdue = await claimOverdue(db, network, { expiredBy: scannedThrough, limit: BATCH, leaseMs: LEASE_MS });
  if (overdue.length === 0) return false;
  faultPoint('expiry-claimed');
  try {
    const left = await settleGroup(round, overdue);
    return overdue.length === BATCH && left === 0;
  } catch (error) {
    await postponeExpiry(db, idsOf(overdue), MIN_PAUSE_MS);
    throw error;
  }
}

/**
 * Asks about a group of payments with one question, settles the transfers in the answer, and expires those of which it is certain.
 * The answer speaks for the whole group, so one wallet that is not fully scanned yet holds back all others: the group is then
 * halved, until it stands alone.
 * @returns how many must be looked at again later.
 */
async function settleGroup(round: Round, group: PaymentRow[]): Promise<number> {
  const { db, chain, network, signal } = round;
  signal.throwIfAborted();
  const { scannedThrough, transfers } = await chain.transfersIn(network, group.map(windowToAsk));
  const contradicted = await review(round, transfers);

  const through = scannedThrough?.getTime() ?? -Infinity;
  const isCovered = (payment: PaymentRow) => payment.expires_at.getTime() <= through;
  // One that was CHECKING is settled by the answer, or its transfer's news are still to come.
  const isCertain = (payment: PaymentRow) =>
    payment.status === 'PENDING' && isCovered(payment) && !contradicted.has(payment.recipient);
  const certain = group.filter(isCertain);
  const uncertain = group.filter((payment) => !isCertain(payment));
  if (certain.length > 0) await expire(round, certain);
  if (uncertain.length === 0) return 0;

  if (!uncertain.every(isCovered) && uncertain.length > 1) {
    const half = Math.ceil(uncertain.length / 2);
    const left = await settleGroup(round, uncertain.slice(0, half));
    return left + (await settleGroup(round, uncertain.slice(half)));
  }
  await postponeExpiry(db, idsOf(uncertain), pauseFor(uncertain, through));
  return uncertain.length;
}

/** @returns the wallets about which the ledger has newer news than the answer. */
async function review(round: Round, transfers: readonly TransferObserved[]): Promise<Set<string>> {
  const { network, transact, logger, signal } = round;
  const contradicted = new Set<string>();
  for (const transfer of transfers) {
    signal.throwIfAborted();
    const verdict = await transact((tx) => reviewTransfer({ ...round, tx }, transfer));
    if (verdict === 'contradicted') contradicted.add(transfer.to);
  }
  if (contradicted.size > 0) {
    logger.warn({ network, wallets: contradicted.size }, 'the chain answered older news than the ledger has');
  }
  return contradicted;
}

async function expire({ transact, announcer }: ExpiryContext, payments: PaymentRow[]): Promise<void> {
  await transact(async (tx) => {
    for (const expired of await expirePayments(tx, idsOf(payments))) {
      await announcer.closed(tx, expired, 'EXPIRED', expired.closed_at);
    }
  });
}

/**
 * A block is allowed to lag behind the payment's creation, and its transfer then still counts. Only transfers of the exact amount
 * are asked for: dust costs its sender next to nothing, and must not make the answer longer than can be read.
 */
const windowToAsk = (payment: PaymentRow) => ({
  recipient: payment.recipient,
  amount: payment.amount,
  from: new Date(payment.created_at.getTime() - LAG_ALLOWANCE_MS),
  to: payment.expires_at,
});

/** As long as the scan will need at the pace of time itself, within bounds. */
function pauseFor(payments: PaymentRow[], through: number): number {
  if (through === -Infinity) return UNKNOWN_PAUSE_MS;
  const missing = Math.min(...payments.map((payment) => payment.expires_at.getTime() - through));
  return Math.min(Math.max(missing, MIN_PAUSE_MS), MAX_PAUSE_MS);
}

const idsOf = (payments: PaymentRow[]): string[] => payments.map((payment) => payment.payment_id);
