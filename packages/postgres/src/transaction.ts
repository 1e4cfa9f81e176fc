import type { PoolClient } from 'pg';

import { currentCaller, requireWaitingCaller, type Caller } from '@quittance/runtime/concurrency/caller.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';

import type { Connection } from './connection.ts';
import { isRetryable, leavesConnectionUsable } from './errors.ts';
import type { Pool, Queryable } from './pool.ts';
import { IDLE_IN_TRANSACTION_TIMEOUT_MS } from './limits.ts';

/** An open database transaction. It can't be used after transaction() has settled. */
export type Transaction = Queryable & {
  /** Runs `hook` right after the commit, never after a rollback. For waking up loops; it must not throw. */
  afterCommit(hook: () => void): void;
};

export type TransactionOptions = {
  /** The longest wait for one lock, in whole milliseconds, if shorter than the pool's limit. */
  lockTimeoutMs?: number;
};

/** Runs one database transaction. */
export type Transact = <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;

/** Total attempts after deadlocks and serialization failures. */
const MAX_ATTEMPTS = 3;

/**
 * Runs `run` inside one database transaction and commits; or rolls back and throws what `run` threw.
 * After a deadlock or a serialization failure, `run` is called again, at most three times in total: do nothing in it
 * but run statements.
 * In a request (see caller.ts in runtime), nothing is committed after the caller has hung up, or when it has too little
 * time left to receive the outcome. The caller is told before the commit, so that it waits for the outcome.
 * @throws an error that isUnavailable() recognises when the database can't be reached. This includes a connection that
 *   broke during the commit, whose outcome is unknown: the caller answers 503, and a retry must be idempotent.
 */
export async function transaction<T>(
  pool: Pool,
  run: (tx: Transaction) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  return retryAborted(() => runOnce(pool, run, options));
}

/** Runs `run` again, at most three times in total, when the server aborted it in favour of another transaction. */
export async function retryAborted<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isRetryable(error) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function runOnce<T>(
  pool: Pool,
  run: (tx: Transaction) => Promise<T>,
  { lockTimeoutMs }: TransactionOptions,
): Promise<T> {
  requireWaitingCaller();
  const client = await pool.connect();
  const hooks: (() => void)[] = [];
  let ended = false;
  const tx: Transaction = {
    query(text, values) {
      // Otherwise a statement that was not awaited would run inside the connection's next transaction.
      if (ended) return Promise.reject(new Error('this transaction has ended'));
      return client.query(text, values);
    },
    afterCommit: (hook) => void hooks.push(hook),
  };
  let result: T;
  try {
    // One round trip in either case. It is awaited, because after a failed `begin` each statement would be committed
    // separately.
    await client.query(beginFor(currentCaller(), client, lockTimeoutMs));
    result = await run(tx);
    ended = true;
    requireWaitingCaller();
    currentCaller()?.announceCommit();
    if (currentCaller() !== null) faultPoint('commit-allowed');
    await commit(client);
    if (currentCaller() !== null) faultPoint('request-committed');
  } catch (error) {
    ended = true;
    await rollBack(client, error);
    throw error;
  }
  client.release();
  for (const hook of hooks) runHook(hook);
  return result;
}

/**
 * If the process freezes after it decided to commit, the server ends its transaction, and with it the locks. The limit
 * is halfway between the last time for a commit and the end of the caller's wait, so that a running process decides by
 * itself.
 * A server before 17 can't limit a transaction. A process that freezes is idle in it, at the latest from the last time
 * for a commit on, so half of the time after that ends the transaction no later.
 */
function beginFor(caller: Caller | null, client: PoolClient, lockTimeoutMs = Infinity): string {
  const commitWithinMs = caller?.commitWithinMs() ?? Infinity;
  const remainingMs = caller?.remainingMs() ?? Infinity;
  const limits: Record<string, number> = { lock_timeout: Math.min(lockTimeoutMs, commitWithinMs) };
  if (remainingMs < Infinity) {
    if ((client as PoolClient & Connection).majorVersion >= 17)
      limits['transaction_timeout'] = (commitWithinMs + remainingMs) / 2;
    else
      limits['idle_in_transaction_session_timeout'] = Math.min(
        (remainingMs - commitWithinMs) / 2,
        IDLE_IN_TRANSACTION_TIMEOUT_MS,
      );
  }
  const settings = Object.entries(limits)
    .filter(([, ms]) => ms < Infinity)
    .map(([name, ms]) => `; set local ${name} = ${Math.max(1, Math.floor(ms))}`);
  return `begin${settings.join('')}`;
}

/** PostgreSQL answers COMMIT with ROLLBACK, and not with an error, when a statement failed and `run` continued. */
async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query('commit');
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back because one of its statements had failed');
}

/** Returns the connection after a rollback, or closes it when its state is uncertain. */
async function rollBack(client: PoolClient, cause: unknown): Promise<void> {
  if (!leavesConnectionUsable(cause)) {
    client.release(true);
    return;
  }
  try {
    await client.query('rollback');
    client.release();
  } catch {
    client.release(true);
  }
}

/** The data is committed, so a failing hook must not make the call fail. */
function runHook(hook: () => void): void {
  try {
    hook();
  } catch (error) {
    process.emitWarning(`an afterCommit hook failed: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
