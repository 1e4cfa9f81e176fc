import type { Pool } from '@quittance/postgres/pool.ts';
import type { PoolClient } from 'pg';

/** The lead of one network. It is held through its own database connection, and is lost with it. */
export type Leadership = {
  isHeld(): boolean;
  release(): Promise<void>;
};

/**
 * Tries to become the leader of a network among all replicas.
 * The lock only decides which replica works. The cursor's epoch, which every commit checks, keeps a former leader from storing anything.
 * @param pool needs one connection for each network, because each leadership keeps one.
 * @param leaseMs how long a leader may be silent, because it is frozen or cut off, before the server ends its connection. That frees
 *   the lock for another replica.
 * @returns null while another replica leads.
 */
export async function tryToLead(pool: Pool, network: string, leaseMs: number): Promise<Leadership | null> {
  const client = await pool.connect();
  let isHeld = true;
  const lose = () => {
    isHeld = false;
  };
  client.on('error', lose);
  client.on('end', lose);
  const releaseClient = (destroy: boolean) => {
    lose();
    client.off('error', lose);
    client.off('end', lose);
    client.release(destroy);
  };
  try {
    const { rows } = await client.query<{ locked: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('chain-watcher leader ' || $1, 0)) as locked`,
      [network],
    );
    if (rows[0]?.locked !== true) {
      releaseClient(false);
      return null;
    }
    await client.query(`select set_config('idle_session_timeout', $1, false)`, [String(leaseMs)]);
  } catch (error) {
    releaseClient(true);
    throw error;
  }
  const heartbeat = startHeartbeat(client, leaseMs / 3, lose);
  return {
    isHeld: () => isHeld,
    release: () => {
      clearInterval(heartbeat);
      // Closing the connection frees the lock even if an unlock could no longer be sent.
      releaseClient(true);
      return Promise.resolve();
    },
  };
}

/** Keeps the server from ending the connection, and detects when the server no longer answers. */
function startHeartbeat(client: PoolClient, intervalMs: number, lose: () => void): NodeJS.Timeout {
  let isWaiting = false;
  const heartbeat = setInterval(() => {
    if (isWaiting) {
      // The last heartbeat is unanswered. The server may not have received anything from us since then either.
      clearInterval(heartbeat);
      lose();
      return;
    }
    isWaiting = true;
    client.query('select 1').then(
      () => {
        isWaiting = false;
      },
      () => {
        clearInterval(heartbeat);
        lose();
      },
    );
  }, intervalMs);
  return heartbeat;
}
