import { CREATIONS_PER_MINUTE } from '@quittance/contracts/http/api-gateway/merchants.ts';
import {
  type RateLimit,
  admitCallers,
  type CallerRequests,
  type CallerRow,
  addCounts,
  findActiveMerchant,
  type Count,
  type CountRow,
  sweepWindows,
} from './admission.sql.ts';
import { insertAudit } from '../merchants/audit.sql.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { createBatchedCall } from '@quittance/runtime/concurrency/batched-call.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { currentCaller } from '@quittance/runtime/concurrency/caller.ts';
import { DeadlineExceeded, withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { startLoop, type Loop, type LoopContext } from '@quittance/runtime/loop.ts';

/**
 * Every application rate limit. Endpoints with the same row share its counter.
 * Counted per merchant, except `keyRotation` (per supplied rotation secret), `publicStatus` and `checkoutLookUp` (per public token).
 * Source: the API contract, "Application rate limits".
 */
export const rateLimits = {
  sharedReads: { scope: 'shared_reads', limit: 120, windowSeconds: 60 },
  /** Support can change it for a merchant. */
  creation: { scope: 'creation', limit: CREATIONS_PER_MINUTE, windowSeconds: 60 },
  cancellation: { scope: 'cancellation', limit: 60, windowSeconds: 60 },
  webhookSettings: { scope: 'webhook_settings', limit: 10, windowSeconds: 60 },
  manualRetry: { scope: 'manual_retry', limit: 5, windowSeconds: 3600 },
  keyRotation: { scope: 'key_rotation', limit: 5, windowSeconds: 60 },
  publicStatus: { scope: 'public_status', limit: 120, windowSeconds: 60 },
  checkoutLookUp: { scope: 'checkout_look_up', limit: 6, windowSeconds: 60 },
} as const satisfies Record<string, RateLimit>;

type Caller = {
  merchantId: string;
  /** When the merchant's previous authenticated request came, or null for its first. */
  previousRequestAt: Date | null;
  /** Null without a limit. */
  counted: (Count & { limit: number }) | null;
};

type Asked = Pick<CallerRequests, 'keyHash' | 'scope'> & { limit: RateLimit | null };

/** As for calls to other services. */
const TIMEOUT_MS = 1_500;

/**
 * Waiting requests share one statement. Those of one counter share its row: a busy counter costs one write for all of them instead of a queue
 * for its lock. Each request still gets its own count.
 */
const batching = { maxBatch: 200, concurrency: 2, maxWaiting: 2_000, timeoutMs: TIMEOUT_MS };

/** Authenticates and counts requests. Throws while the database does not answer, so that no request passes uncounted. */
export function createAdmission(db: Queryable, metrics: Metrics, trust: Pick<Trust, 'publicKeys' | 'sharedTokens'>) {
  const refused = countRefusals(metrics);
  const caller = createBatchedCall<Asked, CallerRow | null, Caller | null>({
    ...batching,
    keyOf: ({ keyHash, scope, limit }) => `${keyHash.toString('latin1')} ${scope} ${limit?.scope ?? ''}`,
    run: (batch) =>
      admitCallers(
        db,
        batch.map(({ input, count }) => ({ ...input, requests: count })),
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
    trust,
    /**
     * Resolves an API key and adds the request to its merchant's counter.
     * @returns null if no active merchant has this key, or if the key's scope is too small.
     */
    async caller(asked: Asked): Promise<Caller | null> {
      const { limit } = asked;
      const found = await caller(asked);
      if (limit !== null && found?.counted) refused({ ...limit, limit: found.counted.limit }, found.counted);
      return found;
    },
    /**
     * Adds a request by a person to the counter that the merchant's API keys use.
     * @returns null if the merchant is not active.
     */
    async person(merchantId: string, limit: RateLimit | null): Promise<Caller | null> {
      const merchant = await findActiveMerchant(db, merchantId);
      if (merchant === null) return null;
      if (limit === null) return { merchantId, previousRequestAt: null, counted: null };
      const own = limit.scope === rateLimits.creation.scope ? merchant.creations_per_minute : null;
      const { scope, windowSeconds } = limit;
      const applied = { scope, windowSeconds, limit: own ?? limit.limit };
      const counted = await count({ subject: merchantId, limit: applied });
      refused(applied, counted);
      return { merchantId, previousRequestAt: null, counted: { ...counted, limit: applied.limit } };
    },
    /** Before it is done, so that nothing is done without an entry. */
    audit: (entry: Parameters<typeof insertAudit>[1]): Promise<void> => insertAudit(db, entry),
    /** Adds a request to a counter that belongs to no merchant. @param subject never a secret in plain text. */
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
 * Waits for a database call as long as the caller waits for its answer, and for a commit that has begun until it ends.
 * @throws DeadlineExceeded. Outside a transaction the call may still take effect.
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

/** This merchant's limit: support can change the limit of creations. */
const limitOf = (limit: RateLimit | null, { creations_per_minute: creations }: CallerRow): number =>
  (limit?.scope === rateLimits.creation.scope ? creations : null) ?? limit?.limit ?? Infinity;

/** The count of the nth request of a batch, which added `times` to the counter. */
const countOf = ({ count, seconds_left: secondsLeft }: CountRow, times: number, nth: number): Count => ({
  count: count - times + nth + 1,
  secondsLeft,
});

const SWEEP_INTERVAL_MS = 30_000;
/** Small, so that a sweep never locks its rows for long. */
const SWEEP_BATCH = 1_000;

/** Deletes ended rate-limit windows: every public token and every guessed secret creates one. */
export function startSweepWindowsLoop({ db, logger, metrics }: LoopContext & { db: Queryable }): Loop {
  const run = async () => ({ more: (await sweepWindows(db, SWEEP_BATCH)) === SWEEP_BATCH });
  return startLoop({ name: 'sweep-windows', intervalMs: SWEEP_INTERVAL_MS, logger, metrics, run });
}
