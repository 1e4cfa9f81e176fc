import type { Queryable } from '@quittance/postgres/pool.ts';
import { createBatchedCall } from '@quittance/runtime/concurrency/batched-call.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { currentCaller } from '@quittance/runtime/concurrency/caller.ts';
import { DeadlineExceeded, withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { rateLimits } from './rate-limits.ts';
import { admitCallers, type CallerRow } from '../store/admission.ts';
import { addCounts, type Count, type CountRow, type RateLimit } from '../store/rate-limit-window.ts';

type Caller = {
  merchantId: string;
  /** When the merchant's previous authenticated request came, or null for its first. */
  previousRequestAt: Date | null;
  /** Null without a limit. */
  counted: (Count & { limit: number }) | null;
};

type Asked = {
  /** SHA-256 of the API key. */
  keyHash: Buffer;
  /** Whether the request only reads. */
  isRead: boolean;
  /** Null counts nothing. */
  limit: RateLimit | null;
};

/** The same limit as for calls to other services. */
const TIMEOUT_MS = 1_500;

/**
 * Waiting requests share one statement, and those of one counter its row: a busy counter costs one write for all of them, not a
 * queue for its lock. Each request still gets its own count.
 */
const batching = { maxBatch: 200, concurrency: 2, maxWaiting: 2_000, timeoutMs: TIMEOUT_MS };

/** Authenticates and counts requests. Throws while the database does not answer, so that no request passes uncounted. */
export function createAdmission(db: Queryable, metrics: Metrics) {
  const refused = countRefusals(metrics);
  const caller = createBatchedCall<Asked, CallerRow | null, Caller | null>({
    ...batching,
    keyOf: ({ keyHash, isRead, limit }) => `${keyHash.toString('latin1')} ${isRead} ${limit?.scope ?? ''}`,
    run: (batch) =>
      admitCallers(
        db,
        batch.map(({ input: { keyHash, isRead, limit }, count }) => ({
          keyHash,
          isRead,
          counter: limit,
          requests: count,
        })),
      ),
    answerOf: (row, { input: { limit }, count }, nth) =>
      row && {
        merchantId: row.merchant_id,
        previousRequestAt: row.last_request_at,
        counted: row.counted && { ...countOf(row.counted, count, nth), limit: limitOf(limit, row) },
      },
  });
  const count = createBatchedCall<{ subject: string; limit: RateLimit }, CountRow, Count>({
    ...batching,
    keyOf: ({ subject, limit }) => `${limit.scope} ${subject}`,
    run: (batch) =>
      addCounts(
        db,
        batch.map(({ input: { subject, limit }, count }) => ({ subject, ...limit, requests: count })),
      ),
    answerOf: (row, { count }, nth) => countOf(row, count, nth),
  });
  return {
    /**
     * Resolves an API key and adds the request to its merchant's counter.
     * @returns null when no active merchant has this key, or the key is one for reading and the request is not.
     */
    async caller(asked: Asked): Promise<Caller | null> {
      const { limit } = asked;
      const found = await caller(asked);
      if (limit !== null && found?.counted) refused({ ...limit, limit: found.counted.limit }, found.counted);
      return found;
    },
    /** Adds a request to a counter that belongs to no merchant. @param subject never a secret in clear text. */
    async count(subject: string, limit: RateLimit): Promise<Count> {
      const counted = await count({ subject, limit });
      refused(limit, counted);
      return counted;
    },
  };
}

export type Admission = ReturnType<typeof createAdmission>;

/** Counts the requests that are answered 429. */
function countRefusals(metrics: Metrics): (limit: RateLimit, counted: Count) => void {
  const refusals = metrics.counter('rate_limit_refusals_total', 'Requests over an application rate limit', ['limit']);
  for (const { scope } of Object.values(rateLimits)) refusals.inc({ limit: scope }, 0);
  return ({ scope, limit }, { count }) => {
    if (count > limit) refusals.inc({ limit: scope });
  };
}

/**
 * The result of a database call, if it comes while the caller still waits for its answer, or if it was being committed by then.
 * @throws DeadlineExceeded. What was asked may still take effect, unless it is asked in a transaction.
 */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  const caller = currentCaller();
  try {
    return await withTimeout(caller?.remainingMs() ?? TIMEOUT_MS, work);
  } catch (error) {
    if (error instanceof DeadlineExceeded && caller?.awaitsCommit()) return work;
    throw error;
  }
}

/** What the limit is for this merchant: support can raise its creations. */
const limitOf = (limit: RateLimit | null, { creations_per_minute: creations }: CallerRow): number =>
  (limit?.scope === rateLimits.creation.scope ? creations : null) ?? limit?.limit ?? Infinity;

/** The count of the nth request of a batch, which added `times` to the counter. */
const countOf = ({ count, seconds_left: secondsLeft }: CountRow, times: number, nth: number): Count => ({
  count: count - times + nth + 1,
  secondsLeft,
});
