import type { ErrorCategory } from '@quittance/contracts/webhook.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type Pace, statusesBefore } from '../state.ts';

/** How one attempt ended, as settle_attempts() reads it. */
export type Outcome = {
  event_id: string;
  merchant_id: string;
  lease_id: string;
  cycle: number;
  /** Number of the attempt in its cycle, from 1. */
  n: number;
  key_id: string;
  /** By the database's clock. Together with event and lease it identifies the attempt, so that storing it twice has no effect. */
  started_at: Date;
  duration_ms: number;
  http_status: number | null;
  /** Null for a 2xx. */
  error_category: ErrorCategory | null;
  remote_ip: string | null;
  /** Null when no retry is left; without meaning after a 2xx. */
  retry_delay_seconds: number | null;
  /** Its lane's, when it ended. */
  pace: Pace;
};

/** When the circuit of a failing receiver opens, and when it closes again. */
export type CircuitPolicy = {
  /** Failures without a success, if the first of them is at least `openAfterSeconds` old. Ten times as many suffice at any age. */
  openAfter: number;
  openAfterSeconds: number;
  /** It opens for 1 s, and for twice as long after each failed probe, up to this. */
  longestOpenSeconds: number;
  /** Attempts in flight at which a recovering lane, which starts with 2 and doubles with every success, counts as healthy. */
  recoveredAt: number;
};

/**
 * Stores how attempts ended, all of them or none: a 2xx stands even after its lease has lapsed, a failure counts only under its own
 * lease. All times are the database's, so a process with a wrong clock cannot make an event look late. Storing the same outcomes
 * again changes no delivery, so a caller that does not know whether a commit succeeded repeats it.
 */
export async function settleAttempts(pool: Pool, outcomes: readonly Outcome[], policy: CircuitPolicy): Promise<void> {
  const delivered = new Set(outcomes.filter((o) => o.error_category === null).map((o) => o.event_id));
  const sorted = outcomes
    // In one order, so that two batches with the same events do not deadlock.
    .toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1))
    // A 2xx in the batch overrides the event's failures.
    .map((o) => ({ ...o, decides: o.error_category === null || !delivered.has(o.event_id) }));
  await pool.query(
    `select settle_attempts(outcomes => $1::jsonb, before_delivered => $2::text[], before_failed => $3::text[],
                            open_after => $4::int, open_after_seconds => $5::float8, longest_open_seconds => $6::float8,
                            recovered_at => $7::int)`,
    [
      ...[JSON.stringify(sorted), statusesBefore('delivered'), statusesBefore('failed')],
      ...[policy.openAfter, policy.openAfterSeconds, policy.longestOpenSeconds, policy.recoveredAt],
    ],
  );
}
