import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { schema } from '../../../services/chain-watcher/src/migrations.ts';
import { openSession, type ScanContext, type Session } from '../../../services/chain-watcher/src/scan/session.ts';
import { NETWORK } from './chain-networks.ts';
import type { MemoryOrder, WalletMemory } from './chain-memory.ts';
import { serve } from './orders.ts';

const SAMPLE_EVERY_MS = 5;

/** Takes the lead of the network as the service does, which loads its wallets, and says what that took. */
serve<MemoryOrder, WalletMemory>(async ({ databaseUrl }) => {
  const open = (max: number): Pool =>
    createPool({ url: databaseUrl, schema, max, logger: testLogger, applicationName: 'benchmark' });
  const [pool, leaderPool] = [open(5), open(1)];
  await pool.query('select 1');
  const before = used();
  const startedAt = performance.now();
  let peak = before;
  const watching = setInterval(() => (peak = Math.max(peak, usedNow())), SAMPLE_EVERY_MS);
  const session = await openSession(contextOf(pool, leaderPool), () => undefined);
  clearInterval(watching);
  if (session === null) throw new Error('somebody else scans the network');
  const seconds = (performance.now() - startedAt) / 1000;
  const settled = used();
  const wallets = session.watches.size();
  await end(session, [pool, leaderPool]);
  return { wallets, seconds, settledBytes: settled - before, peakBytes: peak - before };
});

/** Only what opening a session looks at. */
function contextOf(pool: Pool, leaderPool: Pool): ScanContext {
  const context = { network: { id: NETWORK }, pool, leaderPool, leaseMs: 15_000, logger: testLogger };
  return context as unknown as ScanContext;
}

async function end(session: Session, pools: Pool[]): Promise<void> {
  await session.leadership.release();
  for (const pool of pools) await pool.end();
}

/** After everything that nobody needs is gone; needs --expose-gc. */
function used(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return usedNow();
}

function usedNow(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
