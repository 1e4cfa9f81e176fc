import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { readBlockAt } from '@quittance/chain-reader/rpc/reads.ts';
import type { ChainView } from '../term/position.ts';

/**
 * A block's timestamp may be this far from the time at which its transfers were made, because chain clocks lag: a rollup's clock by minutes
 * after a restart. Every search for blocks by time reaches this far beyond that time.
 */
export const BLOCK_TIME_MARGIN_SECONDS = 150;

/** First step of the search for an old block. */
const FIRST_STEP_BLOCKS = 64;

/**
 * Height of the first block at or after this time (Unix seconds): from our own chain's end, or else by bisection, which steps back in
 * growing steps first. So it asks for no block that is far older than the one sought: many nodes keep no such block.
 */
export async function firstBlockSince(endpoints: Endpoints, chain: ChainView, timestamp: number): Promise<number> {
  const before = chain.before(timestamp);
  if (before !== undefined) return before.number + 1;
  const lowest = chain.heights().at(-1) ?? 0;
  return endpoints.ask(async (rpc) => {
    const isBefore = async (number: number) => {
      const block = await readBlockAt(rpc, number);
      if (block === null) throw new RpcError('unknown_block', 'the node lacks old blocks');
      return block.timestamp < timestamp;
    };
    let low = lowest;
    let high = lowest;
    for (let step = FIRST_STEP_BLOCKS; low > 0; step *= 2) {
      low = Math.max(0, low - step);
      if (await isBefore(low)) break;
      high = low;
    }
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await isBefore(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  });
}
