import { DISPLAY_NAME_MAX } from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { ValidationItem } from '@quittance/http/errors.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { readValidJson } from '../request-body.ts';
import { shapeOf } from '../payments/shape.ts';
import { textProblem } from '../payments/creation.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { createBatchedCall } from '@quittance/runtime/concurrency/batched-call.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { readDisplayNames } from './merchant.sql.ts';

const shape = shapeOf({ required: ['display_name'], properties: { display_name: { type: ['string', 'null'] } } });

/**
 * Validates PUT /merchant/profile.
 * @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field.
 */
export async function readProfile(request: RouteRequest): Promise<{ displayName: string | null }> {
  const { display_name: name } = await readValidJson(request, (body) => [
    ...shape(body),
    ...displayNameProblems(body['display_name']),
  ]);
  return { displayName: typeof name === 'string' ? name.normalize('NFC') : null };
}

/** At most one problem. The schema reports values that are not text. */
export function displayNameProblems(name: unknown): ValidationItem[] {
  if (typeof name !== 'string') return [];
  const text = name.normalize('NFC');
  const reason = textProblem(text, DISPLAY_NAME_MAX);
  return reason === null ? [] : [{ field: 'display_name', reason }];
}

/** Maximum age of a name on the checkout page. */
const FRESH_MS = 5_000;

/** With more cached names than this, the cache is cleared. */
const KEPT_MAX = 10_000;

/** Short, because the page can do without the name. */
const batching = { maxBatch: 200, concurrency: 1, maxWaiting: 1_000, timeoutMs: 500 };

/**
 * Reads merchants' display names. If a name cannot be read now, the one that was read before is used, or none: customers can pay without it.
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
