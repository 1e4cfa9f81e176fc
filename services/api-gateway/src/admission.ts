import type { Queryable } from '@quittance/postgres/pool.ts';
import { createBatchedCall } from '@quittance/runtime/concurrency/batched-call.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { rateLimits, type RateLimit } from './rate-limits.ts';
import { admitCallers, type CallerRow } from './store/admission.ts';
import { takeCounts, type Count, type CountRow } from './store/rate-limit-window.ts';

type Caller = {
  merchantId: string;
  /** When the merchant's previous authenticated request came, or null for its first. */
  previousRequestAt: Date | null;
  /** Null when no counter was asked for. */
  counted: Count | null;
};

/** Who asks, and how often already. Throws while the database does not answer: nobody passes unmetered. */
export type Admission = {
  /**
   * Resolves an API key and takes the request into its merchant's counter.
   * @param keyHash SHA-256 of the API key.
   * @param limit null takes no counter.
   * @returns null when no active merchant has this key.
   */
  caller: (keyHash: Buffer, limit: RateLimit | null) => Promise<Caller | null>;
  /** Takes a request into a counter that belongs to no merchant. @param subject never a secret in clear. */
  count: (subject: string, limit: RateLimit) => Promise<Count>;
};

/** A database that only swallows questions is noticed as soon as a service that does. */
const TIMEOUT_MS = 1_500;

/**
 * Requests that wait at the same moment share one statement, and those of one counter its one row: a counter that many ask for
 * costs one write for all of them, not a queue for its lock. Each still gets the count that is its own.
 */
const sharing = { maxBatch: 200, concurrency: 2, maxWaiting: 2_000, timeoutMs: TIMEOUT_MS };

export function createAdmission(db: Queryable, metrics: Metrics): Admission {
  const refused = countRefusals(metrics);
  const caller = createBatchedCall<{ keyHash: Buffer; limit: RateLimit | null }, CallerRow | null, Caller | null>({
    ...sharing,
    keyOf: ({ keyHash, limit }) => `${keyHash.toString('latin1')} ${limit?.scope ?? ''}`,
    run: (asked) =>
      admitCallers(
        db,
        asked.map(({ input: { keyHash, limit }, count }) => ({ keyHash, counter: limit, requests: count })),
      ),
    answerOf: (row, { count }, nth) =>
      row && {
        merchantId: row.merchant_id,
        previousRequestAt: row.last_request_at,
        counted: row.counted && countOf(row.counted, count, nth),
      },
  });
  const count = createBatchedCall<{ subject: string; limit: RateLimit }, CountRow, Count>({
    ...sharing,
    keyOf: ({ subject, limit }) => `${limit.scope} ${subject}`,
    run: (asked) =>
      takeCounts(
        db,
        asked.map(({ input: { subject, limit }, count }) => ({ subject, ...limit, requests: count })),
      ),
    answerOf: (row, { count }, nth) => countOf(row, count, nth),
  });
  return {
    caller: async (keyHash, limit) => {
      const found = await caller({ keyHash, limit });
      if (limit !== null && found?.counted) refused(limit, found.counted);
      return found;
    },
    count: async (subject, limit) => {
      const counted = await count({ subject, limit });
      refused(limit, counted);
      return counted;
    },
  };
}

/** Whoever counts more than the limit is answered 429: counted here, where every count comes by. */
function countRefusals(metrics: Metrics): (limit: RateLimit, counted: Count) => void {
  const refusals = metrics.counter('rate_limit_refusals_total', 'Requests over an application rate limit', ['limit']);
  for (const { scope } of Object.values(rateLimits)) refusals.inc({ limit: scope }, 0);
  return ({ scope, limit }, { count }) => {
    if (count > limit) refusals.inc({ limit: scope });
  };
}

/**
 * What the database says, if it comes as soon as an answer of admission would have to.
 * @throws DeadlineExceeded after 1.5 s. What was asked may still take effect.
 */
export const inTime = <T>(work: Promise<T>): Promise<T> => withTimeout(TIMEOUT_MS, work);

/** The nth of requests that were taken together came after all that were counted before them. */
const countOf = ({ count, seconds_left: secondsLeft }: CountRow, times: number, nth: number): Count => ({
  count: count - times + nth + 1,
  secondsLeft,
});
