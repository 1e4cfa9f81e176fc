import { nobody, type Shop } from '@quittance/checkout-page/shop.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { createBatchedCall } from '@quittance/runtime/concurrency/batched-call.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { readShops } from './profile.sql.ts';

/** Maximum age of what the checkout page shows of a shop. */
const FRESH_MS = 5_000;

/** With more cached shops than this, the cache is cleared. */
const KEPT_MAX = 10_000;

/** Short, because the page can do without. */
const batching = { maxBatch: 200, concurrency: 1, maxWaiting: 1_000, timeoutMs: 500 };

/**
 * Reads what customers see of merchants. If it cannot be read now, what was read before is used, or nothing: customers can pay without it.
 * @param now milliseconds of a monotonic clock.
 */
export function createShops({
  db,
  logger,
  now = () => performance.now(),
}: {
  db: Queryable;
  logger: Logger;
  now?: () => number;
}): (merchantId: string) => Promise<Shop> {
  const kept = new Map<string, { shop: Shop; readAt: number }>();
  const read = createBatchedCall<string, Shop | null, Shop>({
    ...batching,
    keyOf: (merchantId) => merchantId,
    run: (batch) =>
      readShops(
        db,
        batch.map(({ input }) => input),
      ),
    answerOf: (shop) => shop ?? nobody,
  });
  return async (merchantId) => {
    const known = kept.get(merchantId);
    if (known !== undefined && now() - known.readAt < FRESH_MS) return known.shop;
    try {
      const shop = await read(merchantId);
      if (kept.size >= KEPT_MAX) kept.clear();
      kept.set(merchantId, { shop, readAt: now() });
      return shop;
    } catch (error) {
      logger.warn({ error }, 'what customers see of a shop could not be read');
      return known?.shop ?? nobody;
    }
  };
}
