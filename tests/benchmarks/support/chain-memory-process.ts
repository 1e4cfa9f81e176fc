import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { schema } from '../../../services/chain-watcher/src/migrations.ts';
import { openTerm, type LoopContext } from '../../../services/chain-watcher/src/leadership/network-loop.ts';
import { NETWORK } from './chain-networks.ts';
import { serve } from './forked.ts';

/** Bytes of heap and of buffers outside it, added to what the process had before. */
export type WalletMemory = {
  wallets: number;
  seconds: number;
  /** After garbage is collected. */
  settledBytes: number;
  /** The most that was seen while loading, garbage included. */
  peakBytes: number;
};

const SAMPLE_EVERY_MS = 5;

const handlers = serve({
  /** Opens a term as leader of the network as the service does, which loads its wallets, and measures it. */
  async load(databaseUrl: string): Promise<WalletMemory> {
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
  },
});
export type MemoryProcess = typeof handlers;

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
