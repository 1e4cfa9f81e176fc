import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { schema } from '../../../services/chain-watcher/src/migrations.ts';
import { openTerm, type LoopContext } from '../../../services/chain-watcher/src/leadership/network-loop.ts';
import { NETWORK } from './chain-networks.ts';
import type { MemoryOrder, WalletMemory } from './chain-memory.ts';
import { serve } from './orders.ts';

const SAMPLE_EVERY_MS = 5;

/** Opens a term as leader of the network as the service does, which loads its wallets, and measures it. */
serve<MemoryOrder, WalletMemory>(async ({ databaseUrl }) => {
  const open = (max: number): Pool =>
    createPool({ url: databaseUrl, schema, max, logger: testLogger, applicationName: 'benchmark' });
  const [pool, leaderPool] = [open(5), open(1)];
  await pool.query('select 1');
  const before = used();
  const startedAt = performance.now();
  let peak = before;
  const watching = setInterval(() => (peak = Math.max(peak, usedNow())), SAMPLE_EVERY_MS);
  const opened = await openTerm(contextOf(pool, leaderPool));
  clearInterval(watching);
  if (opened === null) throw new Error(`another process leads ${NETWORK}`);
  const seconds = (performance.now() - startedAt) / 1000;
  const settled = used();
  const wallets = opened.term.watches.size();
  await opened.leadership.release();
  await Promise.all([pool.end(), leaderPool.end()]);
  return { wallets, seconds, settledBytes: settled - before, peakBytes: peak - before };
});

/** Only what opening a term reads. */
function contextOf(pool: Pool, leaderPool: Pool): LoopContext {
  const context = { network: { id: NETWORK }, pool, leaderPool, leaseMs: 15_000, logger: testLogger };
  return context as unknown as LoopContext;
}

/** After garbage is collected; needs --expose-gc. */
function used(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return usedNow();
}

function usedNow(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
