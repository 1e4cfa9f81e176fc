import type { ErrorCategory } from '@quittance/contracts/webhook.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { statusesBefore } from '../state.ts';

/** How one attempt ended, and what follows from it. */
export type Outcome = {
  eventId: string;
  merchantId: string;
  leaseId: string;
  cycle: number;
  /** Number of the attempt in its cycle, from 1. */
  n: number;
  keyId: string;
  /** By the database's clock. Together with event and lease it names the attempt, however often it is written down. */
  startedAt: Date;
  durationMs: number;
  httpStatus: number | null;
  /** Null for a 2xx. */
  errorCategory: ErrorCategory | null;
  remoteAddress: string | null;
  /** Null when no retry is left; without meaning after a 2xx. */
  retryDelaySeconds: number | null;
};

/** When a lane whose receiver answers nothing but failures is closed, and how it opens again. */
export type LaneBreaker = {
  /**
   * So many failures without a success, the first of them at least so long ago: less may be a restart, or a single bad event. Ten
   * times as many are enough at any speed.
   */
  closeAfter: number;
  closeAfterSeconds: number;
  /** It is closed for 1 s, and for twice as long with every attempt that fails again, up to this. */
  longestCloseSeconds: number;
  /** Attempts in flight at which a recovering lane, that began with 2 and doubled with every success, counts as recovered. */
  recoveredAt: number;
};

const laneBreaker: LaneBreaker = {
  closeAfter: 50,
  closeAfterSeconds: 10,
  longestCloseSeconds: 60,
  recoveredAt: 8,
};

/**
 * Writes down how attempts ended, all of them or none: a 2xx stands whoever holds the lease by now, a failure counts only under its
 * own lease. All times are the database's, so a process with a wrong clock cannot make an event look late. Writing the same
 * outcomes again changes no delivery, so whoever does not know whether a commit took effect repeats it.
 */
export async function settleAttempts(
  pool: Pool,
  outcomes: readonly Outcome[],
  breaker: LaneBreaker = laneBreaker,
): Promise<void> {
  // In one order, so that two batches which share events do not wait for each other.
  const sorted = outcomes.toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1));
  // Whatever else was said of an event, a 2xx stands.
  const delivered = new Set(outcomes.filter((o) => o.errorCategory === null).map((o) => o.eventId));
  await pool.query(
    `select settle_attempts($1::text[], $2::uuid[], $3::text[], $4::int[], $5::int[], $6::text[], $7::timestamptz[],
                            $8::int[], $9::smallint[], $10::text[], $11::inet[], $12::float8[], $13::bool[], $14::text[],
                            $15::text[], $16::int, $17::int, $18::float8, $19::float8)`,
    [
      sorted.map((o) => o.eventId),
      sorted.map((o) => o.leaseId),
      sorted.map((o) => o.merchantId),
      sorted.map((o) => o.cycle),
      sorted.map((o) => o.n),
      sorted.map((o) => o.keyId),
      sorted.map((o) => o.startedAt),
      sorted.map((o) => o.durationMs),
      sorted.map((o) => o.httpStatus),
      sorted.map((o) => o.errorCategory),
      sorted.map((o) => o.remoteAddress),
      sorted.map((o) => o.retryDelaySeconds),
      sorted.map((o) => o.errorCategory === null || !delivered.has(o.eventId)),
      statusesBefore('delivered'),
      statusesBefore('failed'),
      breaker.recoveredAt,
      breaker.closeAfter,
      breaker.closeAfterSeconds,
      breaker.longestCloseSeconds,
    ],
  );
}
