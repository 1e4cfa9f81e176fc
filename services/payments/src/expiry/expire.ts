import type { TransferPosition } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Chain } from '../clients.ts';
import type { PaymentMessages } from '../payment/outgoing-messages.ts';
import { isDedicated } from '../settlement/parts.ts';
import { reviewTransfers, settleOpen } from '../settlement/settlement.ts';
import {
  claimOverdue,
  expirePayments,
  pauseFailedExpiry,
  postponeExpiry,
  type UnfinishedBound,
  measureExpiryLag,
} from './expiry.sql.ts';
import type { PaymentRow } from '../payment/payment.sql.ts';
import { countCandidates, lockWallets } from '../settlement/transfer.sql.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

/** The most payment windows that chain-watcher accepts in one question. */
const BATCH = 100;
/** Longer than it takes to ask about and settle a batch, so that no two replicas ask about the same payments. */
const LEASE_MS = 30_000;
/** After this time a round starts nothing new, so that it ends within the lease. */
const ROUND_MS = 20_000;
const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** For a wallet that chain-watcher has not scanned at all, for example because its PaymentCreated has not arrived. */
const UNKNOWN_PAUSE_MS = 5000;

type ExpiryContext = {
  db: Queryable;
  transact: Transact;
  chain: Chain;
  messages: PaymentMessages;
  logger: Logger;
};

/** One network's turn. */
type Round = ExpiryContext & { network: string; bound: UnfinishedBound; signal: AbortSignal };

/**
 * Expires payments of one network, but only those for which the chain proves that no money came: every block up to their expiry is final
 * and scanned. Transfers found in the answer are settled first, so a lost message can neither expire a paid payment nor leave one CHECKING
 * for ever.
 * @returns whether a full batch was claimed and finished, so that more may be waiting.
 */
async function expireOverdue(round: Round): Promise<boolean> {
  const { db, chain, network, bound } = round;
  // Payments that expire after the network's scanned_through are not claimed, however many there are.
  const { scannedThrough } = await chain.transfersIn(network, []);
  if (scannedThrough === null) return false;
  const overdue = await claimOverdue(db, network, {
    bound,
    expiredBy: scannedThrough,
    limit: BATCH,
    leaseMs: LEASE_MS,
  });
  if (overdue.length === 0) return false;
  faultPoint('expiry-claimed');
  const deadline = performance.now() + ROUND_MS;
  // A payment that failed alone is not put into a group again.
  const groups = [
    overdue.filter(({ expiry_failures: failures }) => failures === 0),
    ...overdue.filter(({ expiry_failures: failures }) => failures > 0).map((payment) => [payment]),
  ];
  try {
    let postponed = 0;
    for (const group of groups) {
      if (group.length > 0) postponed += await settleApart({ ...round, deadline }, group);
    }
    return overdue.length === BATCH && postponed === 0;
  } catch (error) {
    await postponeExpiry(db, idsOf(overdue), MIN_PAUSE_MS);
    throw error;
  }
}

type Turn = Round & { deadline: number };

/**
 * Settles a group. When it fails, halves it, down to the payment that causes the failure, which is then paused alone.
 * @returns how many were postponed.
 * @throws when chain-watcher cannot be asked at all, so the group is not the cause.
 */
async function settleApart(turn: Turn, group: PaymentRow[]): Promise<number> {
  const { db, chain, network, signal, logger, deadline } = turn;
  if (performance.now() > deadline) return postpone(turn, group, MIN_PAUSE_MS);
  try {
    return await settleGroup(turn, group);
  } catch (error) {
    signal.throwIfAborted();
    await Promise.all([chain.transfersIn(network, []), db.query('select 1')]);
    const [payment] = group;
    if (group.length > 1) return settleHalves(turn, group);
    if (payment === undefined) return 0;
    logger.warn(
      { error, network, payment_id: payment.payment_id },
      'a payment could not be expired; it is retried alone',
    );
    await pauseFailedExpiry(db, payment.payment_id);
    return 1;
  }
}

async function settleHalves(turn: Turn, group: PaymentRow[]): Promise<number> {
  const half = Math.ceil(group.length / 2);
  const postponed = await settleApart(turn, group.slice(0, half));
  return postponed + (await settleApart(turn, group.slice(half)));
}

async function postpone({ db }: Round, payments: PaymentRow[], pauseMs: number): Promise<number> {
  await postponeExpiry(db, idsOf(payments), pauseMs);
  return payments.length;
}

/**
 * Asks about a group of payments with one question, settles the transfers in the answer, and expires the payments that certainly got no
 * money. The answer covers the whole group, so one wallet that is not fully scanned yet holds back all others: the group is then halved,
 * down to single payments.
 * @returns how many were postponed.
 */
async function settleGroup(turn: Turn, group: PaymentRow[]): Promise<number> {
  const { through, contradicted } = await reviewAnswer(turn, group);
  const isCovered = (payment: PaymentRow) => payment.expires_at.getTime() <= through;
  // A CHECKING payment is settled by the answer, or a message about its transfer is still to come.
  const isCertain = (payment: PaymentRow) =>
    payment.status === 'PENDING' && isCovered(payment) && !contradicted.has(payment.recipient);
  const certain = group.filter(isCertain);
  const uncertain = group.filter((payment) => !isCertain(payment));
  if (certain.length > 0) await expire(turn, certain);
  if (uncertain.length === 0) return 0;

  if (!uncertain.every(isCovered) && uncertain.length > 1) {
    return settleHalves(turn, uncertain);
  }
  return postpone(turn, uncertain, pauseFor(uncertain, through));
}

/**
 * Settles the transfers of an answer, page by page.
 * @returns the time up to which the answer is complete, in milliseconds, taken from its least complete page; and the wallets for which the
 *   ledger has newer versions than the answer.
 * @throws when the pages do not end in time.
 */
async function reviewAnswer(
  turn: Turn,
  group: PaymentRow[],
): Promise<{ through: number; contradicted: ReadonlySet<string> }> {
  const { chain, network, signal, deadline } = turn;
  const windows = group.map(toChainWindow);
  const contradicted = new Set<string>();
  let through = Infinity;
  let after: TransferPosition | undefined;
  do {
    signal.throwIfAborted();
    if (after !== undefined && performance.now() > deadline)
      throw new Error('the answer has too many pages to settle in time');
    const page = await chain.transfersIn(network, windows, after);
    for (const wallet of await review(turn, page.transfers)) contradicted.add(wallet);
    through = Math.min(through, page.scannedThrough?.getTime() ?? -Infinity);
    after = page.next;
  } while (after !== undefined);
  return { through, contradicted };
}

/** Settles a page in one transaction. @returns the wallets for which the ledger has newer versions than the answer. */
async function review(round: Round, transfers: readonly TransferObserved[]): Promise<Set<string>> {
  const { network, transact, logger } = round;
  if (transfers.length === 0) return new Set();
  const contradicted = await transact((tx) => reviewTransfers({ ...round, tx }, transfers));
  const wallets = new Set(contradicted.map(({ to }) => to));
  if (wallets.size > 0) {
    logger.warn(
      { network, wallets: wallets.size },
      'chain-watcher returned an older version of a transfer than the ledger has',
    );
  }
  return wallets;
}

/** Transfers that came after the end now get a reason, and are counted for the notice. */
async function expire(context: ExpiryContext, payments: PaymentRow[]): Promise<void> {
  const { transact, messages } = context;
  await transact(async (tx) => {
    await lockWallets(tx, payments);
    const expired = await expirePayments(tx, idsOf(payments));
    await settleOpen({ ...context, tx }, expired);
    const counted = await countCandidates(tx, idsOf(expired.filter((payment) => payment.is_chosen)));
    for (const payment of expired) {
      await messages.sendClosed(tx, payment, 'EXPIRED', payment.closed_at, counted.get(payment.payment_id));
    }
  });
}

/**
 * chain-watcher returns every transfer whose interval may meet the window, however much the chain's clock differs from ours. Only transfers
 * of the exact amount are requested: dust costs its sender next to nothing, and must not make the answer too long to read. At an address
 * that a payment has for itself every transfer counts.
 */
const toChainWindow = (payment: PaymentRow) => ({
  recipient: payment.recipient,
  ...(!isDedicated(payment) && { amount: payment.amount }),
  from: payment.created_at,
  to: payment.expires_at,
});

/** The time that the scan needs if it keeps pace with the chain, within bounds. */
function pauseFor(payments: PaymentRow[], through: number): number {
  if (through === -Infinity) return UNKNOWN_PAUSE_MS;
  const missing = Math.min(...payments.map((payment) => payment.expires_at.getTime() - through));
  return Math.min(Math.max(missing, MIN_PAUSE_MS), MAX_PAUSE_MS);
}

const idsOf = (payments: PaymentRow[]): string[] => payments.map((payment) => payment.payment_id);

const INTERVAL_MS = 1000;

/** Reading the whole index takes at most a fiftieth of the time; in between, only the part that had unfinished payments is read. */
const WHOLE_SHARE = 50;

type Context = ExpiryContext & { networks: readonly Network[]; metrics: Metrics };

/** Expires overdue payments, each network in its own loop, so that none waits for another. */
export function startExpireLoop({ networks, ...context }: Context): Loop {
  const loops = networks.map(({ id }) => startNetworkLoop(id, context));
  return {
    wake: () => loops.forEach((loop) => loop.wake()),
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}

function startNetworkLoop(network: string, context: Omit<Context, 'networks'>): Loop {
  const { transact, logger, metrics } = context;
  const lagSeconds = metrics.gauge(
    'payment_expiry_lag_seconds',
    'How long the longest overdue payment waits past its expiry',
    ['network'],
  );
  let known: UnfinishedBound | null = null;
  let readWholeAt = 0;
  return startLoop({
    name: `expire ${network}`,
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async (signal) => {
      const isWhole = performance.now() >= readWholeAt;
      const {
        lag,
        bound,
        took_ms: tookMs,
      } = await transact((tx) => measureExpiryLag(tx, network, isWhole ? null : known));
      if (isWhole) readWholeAt = performance.now() + tookMs * WHOLE_SHARE;
      known = bound;
      lagSeconds.set({ network }, lag);
      return { more: lag > 0 && (await expireOverdue({ ...context, network, bound, signal })) };
    },
  });
}
