import type { Pool } from '@quittance/postgres/pool.ts';

/** The right to scan one network, held through a connection of its own. Losing the connection loses the right. */
export type Leadership = {
  isHeld(): boolean;
  release(): Promise<void>;
};

/**
 * Tries to become the leader of a network among all replicas.
 * The lock only decides who works; that nobody else's work is stored is the cursor's epoch, which every commit checks.
 * @param pool has as many connections as there are networks, because each leadership keeps one.
 * @param leaseMs how long a leader may be silent, frozen or cut off, before the server ends its connection and so frees
 *   the lock for another replica.
 * @returns null while another replica leads.
 */
export async function tryToLead(pool: Pool, network: string, leaseMs: number): Promise<Leadership | null> {
  const client = await pool.connect();
  let isHeld = true;
  let heartbeat: NodeJS.Timeout | undefined;
  const lose = () => {
    isHeld = false;
    clearInterval(heartbeat);
  };
  client.on('error', lose);
  client.on('end', lose);
  const giveBack = (isSpent: boolean) => {
    lose();
    client.off('error', lose);
    client.off('end', lose);
    client.release(isSpent);
  };
  try {
    const { rows } = await client.query<{ locked: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('chain-watcher leader ' || $1, 0)) as locked`,
      [network],
    );
    if (rows[0]?.locked !== true) {
      giveBack(false);
      return null;
    }
    await client.query(`select set_config('idle_session_timeout', $1, false)`, [String(leaseMs)]);
  } catch (error) {
    giveBack(true);
    throw error;
  }
  let isWaiting = false;
  heartbeat = setInterval(() => {
    // A beat that has not come back by the next one: the server has not heard of us for that long either.
    if (isWaiting) return lose();
    isWaiting = true;
    client.query('select 1').then(() => {
      isWaiting = false;
    }, lose);
  }, leaseMs / 3);
  return {
    isHeld: () => isHeld,
    release: () => {
      // Closing the connection frees the lock, also where an unlock could not be sent any more.
      giveBack(true);
      return Promise.resolve();
    },
  };
}
