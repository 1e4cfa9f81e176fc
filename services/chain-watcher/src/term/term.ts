import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { WatchSet } from '@quittance/chain-reader/chain/watch-set.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { ChainMetrics } from '../metrics.ts';
import { fence } from '../store/cursor.ts';

/** What scanning one network needs; the same for the life of the process. */
export type NetworkContext = {
  network: ChainNetwork;
  endpoints: Endpoints;
  pool: Pool;
  outbox: Outbox;
  logger: Logger;
  metrics: ChainMetrics;
};

/** What every job gets for one term of leadership. */
export type Term = NetworkContext & {
  /** Names this term in every commit; see fence(). */
  epoch: bigint;
  isLeading(): boolean;
  /** The wallets whose transfers are looked for: those that the database holds as watched. */
  watches: WatchSet;
};

/**
 * Runs a transaction that commits only while this term lasts.
 * @throws Fenced
 */
export function fencedTransaction<T>({ pool, network, epoch }: Term, run: (tx: Transaction) => Promise<T>): Promise<T> {
  return transaction(pool, async (tx) => {
    await fence(tx, network.id, epoch);
    return run(tx);
  });
}
