import type { Queryable } from '@quittance/postgres/pool.ts';
import { createBatchedCall } from '@quittance/runtime/concurrency/batched-call.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { readDisplayNames } from '../store/profile.ts';

/** How old a name on the checkout page may be. */
const FRESH_MS = 5_000;

/** Merchants whose names are kept; beyond that all are read anew. */
const KEPT_MAX = 10_000;

/** A page is not held up for long by what it can do without. */
const batching = { maxBatch: 200, concurrency: 1, maxWaiting: 1_000, timeoutMs: 500 };

/**
 * What merchants call their shops. A name that cannot be read now is the one that was read before, or none: customers can pay without it.
 * @param now milliseconds of a monotonic clock.
 */
export function createShopNames({
  db,
  logger,
  now = () => performance.now(),
}: {
  db: Queryable;
  logger: Logger;
  now?: () => number;
}): (merchantId: string) => Promise<string | null> {
  const kept = new Map<string, { name: string | null; readAt: number }>();
  const read = createBatchedCall<string, string | null, string | null>({
    ...batching,
    keyOf: (merchantId) => merchantId,
    run: (batch) =>
      readDisplayNames(
        db,
        batch.map(({ input }) => input),
      ),
    answerOf: (name) => name,
  });
  return async (merchantId) => {
    const known = kept.get(merchantId);
    if (known !== undefined && now() - known.readAt < FRESH_MS) return known.name;
    try {
      const name = await read(merchantId);
      if (kept.size >= KEPT_MAX) kept.clear();
      kept.set(merchantId, { name, readAt: now() });
      return name;
    } catch (error) {
      logger.warn({ error }, 'the name of a shop could not be read');
      return known?.name ?? null;
    }
  };
}
