import { unavailable } from '@quittance/http/errors.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { createKeyedQueue } from '@quittance/runtime/concurrency/keyed-queue.ts';
import { Overloaded } from '@quittance/runtime/concurrency/overloaded.ts';
import { LOCK_TIMEOUT_MS } from '../deadlines.ts';

/**
 * Runs one database transaction of a merchant's request. It waits for the merchant's other requests before it takes a connection.
 * @throws CallerGone or HttpError 503 when it does not get its turn in time.
 */
export type TransactAdmitted = <T>(merchantId: string, run: (tx: Transaction) => Promise<T>) => Promise<T>;

/** One holds the lock of the merchant's gate; the other has its connection ready. */
const AT_ONCE = 2;
/** As many as can be served well within the time that a caller waits. */
const MAX_WAITING = 200;

/**
 * A merchant's requests wait for its gate, which only one transaction can lock. They queue here, so that a waiting request does not occupy
 * a connection.
 */
export function createAdmission(pool: Pool): TransactAdmitted {
  const queue = createKeyedQueue({ perKey: AT_ONCE, maxWaiting: MAX_WAITING });
  return async (merchantId, run) => {
    try {
      return await queue(merchantId, () => transaction(pool, run, { lockTimeoutMs: LOCK_TIMEOUT_MS }));
    } catch (error) {
      throw error instanceof Overloaded ? unavailable(error) : error;
    }
  };
}
