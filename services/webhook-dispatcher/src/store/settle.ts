import type { ErrorCategory } from '@quittance/contracts/webhook.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { statusesBefore } from '../state.ts';
import { makeLanesDue } from './lane.ts';

/** How one attempt ended, and what follows from it. */
export type Outcome = {
  eventId: string;
  leaseId: string;
  cycle: number;
  /** Number of the attempt in its cycle, from 1. */
  n: number;
  keyId: string;
  durationMs: number;
  httpStatus: number | null;
  /** Null for a 2xx. */
  errorCategory: ErrorCategory | null;
  remoteAddress: string | null;
  /** Null when no retry is left; without meaning after a 2xx. */
  retryDelaySeconds: number | null;
};

/**
 * Writes down how attempts ended, all of them or none. Successes first: whatever else was said of an event, a 2xx stands.
 * All times are the database's, so a process with a wrong clock cannot make an event look late.
 */
export async function settleAttempts(pool: Pool, outcomes: readonly Outcome[]): Promise<void> {
  const successes = outcomes.filter((outcome) => outcome.errorCategory === null);
  const failures = outcomes.filter((outcome) => outcome.errorCategory !== null);
  await transaction(pool, async (tx) => {
    // In order, so that two batches which share events do not wait for each other.
    await tx.query(`select 1 from delivery where event_id = any($1) order by event_id for update`, [
      outcomes.map((outcome) => outcome.eventId),
    ]);
    if (successes.length > 0) await markDelivered(tx, successes);
    const retried = failures.length > 0 ? await markFailed(tx, failures) : [];
    await insertAttempts(tx, outcomes);
    await makeLanesDue(tx, retried);
  });
}

/** A success is a fact, whoever holds the lease by now. */
async function markDelivered(tx: Transaction, outcomes: Outcome[]): Promise<void> {
  await tx.query(
    `update delivery d
        set status = 'delivered', attempts = d.attempts + 1, next_attempt_at = null, lease_id = null, error_category = null,
            delivered_at = now(), last_attempt_at = now() - make_interval(secs => o.duration_ms / 1000.0)
       from unnest($1::text[], $2::int[]) as o(event_id, duration_ms)
      where d.event_id = o.event_id and d.status = any($3)`,
    [outcomes.map((o) => o.eventId), outcomes.map((o) => o.durationMs), statusesBefore('delivered')],
  );
}

/**
 * A failure counts only under its own lease: when the lease has lapsed, somebody else is at it.
 * @returns the deliveries that will be tried again.
 */
async function markFailed(
  tx: Transaction,
  outcomes: Outcome[],
): Promise<{ merchant_id: string; next_attempt_at: Date }[]> {
  const { rows } = await tx.query<{ merchant_id: string; next_attempt_at: Date | null }>(
    `update delivery d
        set status = case when o.delay_seconds is null then 'failed' else 'pending' end,
            attempts = d.attempts + 1, lease_id = null, error_category = o.error_category,
            next_attempt_at = now() + make_interval(secs => o.delay_seconds),
            last_attempt_at = now() - make_interval(secs => o.duration_ms / 1000.0)
       from unnest($1::text[], $2::uuid[], $3::text[], $4::float8[], $5::int[])
         as o(event_id, lease_id, error_category, delay_seconds, duration_ms)
      where d.event_id = o.event_id and d.lease_id = o.lease_id and d.status = any($6)
     returning d.merchant_id, d.next_attempt_at`,
    [
      outcomes.map((o) => o.eventId),
      outcomes.map((o) => o.leaseId),
      outcomes.map((o) => o.errorCategory),
      outcomes.map((o) => o.retryDelaySeconds),
      outcomes.map((o) => o.durationMs),
      statusesBefore('failed'),
    ],
  );
  return rows.flatMap(({ merchant_id, next_attempt_at }) =>
    next_attempt_at === null ? [] : [{ merchant_id, next_attempt_at }],
  );
}

async function insertAttempts(tx: Transaction, outcomes: readonly Outcome[]): Promise<void> {
  await tx.query(
    `insert into attempt (event_id, lease_id, started_at, cycle, n, key_id, duration_ms, http_status, error_category, remote_ip)
     select event_id, lease_id, now() - make_interval(secs => duration_ms / 1000.0),
            cycle, n, key_id, duration_ms, http_status, error_category, remote_ip
       from unnest($1::text[], $2::uuid[], $3::int[], $4::int[], $5::text[], $6::int[], $7::smallint[], $8::text[], $9::inet[])
         as o(event_id, lease_id, cycle, n, key_id, duration_ms, http_status, error_category, remote_ip)`,
    [
      outcomes.map((o) => o.eventId),
      outcomes.map((o) => o.leaseId),
      outcomes.map((o) => o.cycle),
      outcomes.map((o) => o.n),
      outcomes.map((o) => o.keyId),
      outcomes.map((o) => o.durationMs),
      outcomes.map((o) => o.httpStatus),
      outcomes.map((o) => o.errorCategory),
      outcomes.map((o) => o.remoteAddress),
    ],
  );
}
