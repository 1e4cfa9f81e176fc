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

/**
 * Expires payments, but only those of which the chain says for certain that no money came: every block up to their expiry is final
 * and scanned. Transfers that turn up while asking are settled first, so a lost message cannot expire a paid payment.
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
          more = (await expireOverdue(context, id, signal)) || more;
          lag.set({ network: id }, await measureExpiryLag(db, id));
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'some networks could not be looked at');
      return { more };
    },
  });
}

/** @returns whether a full batch was worked through, so that more may be waiting. */
async function expireOverdue(context: ExpiryContext, network: string, signal: AbortSignal): Promise<boolean> {
  const { db, chain, logger } = context;
  const overdue = await claimOverdue(db, network, { limit: BATCH, leaseMs: LEASE_MS });
  if (overdue.length === 0) return false;
  faultPoint('expiry-claimed');
  const letGo = async (error: unknown): Promise<never> => {
    await postponeExpiry(db, idsOf(overdue), MIN_PAUSE_MS);
    throw error;
  };
  const { scannedThrough, transfers } = await chain.transfersIn(network, overdue.map(windowToAsk)).catch(letGo);

  const contradicted = new Set<string>();
  for (const transfer of transfers) {
    if (signal.aborted) return false;
    const verdict = await context.transact((tx) => reviewTransfer({ ...context, tx }, transfer));
    if (verdict === 'contradicted') contradicted.add(transfer.to);
  }
  if (contradicted.size > 0) logger.warn({ network, wallets: contradicted.size }, 'the chain answered older news');

  const through = scannedThrough?.getTime() ?? -Infinity;
  const isCertain = (payment: PaymentRow) =>
    payment.expires_at.getTime() <= through && !contradicted.has(payment.recipient);
  const certain = overdue.filter(isCertain);
  const uncertain = overdue.filter((payment) => !isCertain(payment));
  if (certain.length > 0) await expire(context, certain);
  if (uncertain.length > 0) await postponeExpiry(db, idsOf(uncertain), pauseFor(uncertain, through));
  return overdue.length === BATCH && uncertain.length === 0;
}

async function expire({ transact, announcer }: ExpiryContext, payments: PaymentRow[]): Promise<void> {
  await transact(async (tx) => {
    for (const expired of await expirePayments(tx, idsOf(payments))) {
      await announcer.closed(tx, expired, 'EXPIRED', expired.closed_at);
    }
  });
}

/** A block is allowed to lag behind the payment's creation, and its transfer then still counts. */
const windowToAsk = (payment: PaymentRow) => ({
  recipient: payment.recipient,
  from: new Date(payment.created_at.getTime() - LAG_ALLOWANCE_MS),
  to: payment.expires_at,
});

/** As long as the scan will need at the pace of time itself, within bounds; a scan that only begins is asked again soon. */
function pauseFor(payments: PaymentRow[], through: number): number {
  if (through === -Infinity) return MIN_PAUSE_MS;
  const missing = Math.min(...payments.map((payment) => payment.expires_at.getTime() - through));
  return Math.min(Math.max(missing, MIN_PAUSE_MS), MAX_PAUSE_MS);
}

const idsOf = (payments: PaymentRow[]): string[] => payments.map((payment) => payment.payment_id);
