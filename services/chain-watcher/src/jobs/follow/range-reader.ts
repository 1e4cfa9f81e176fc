import { catchUp } from '@quittance/chain-reader/chain/catch-up.ts';
import type { BlockHead } from '@quittance/chain-reader/chain/local-chain.ts';
import type { PollContext, PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { createRangeSize, suggestedBlocks } from '../../reading/adaptive-batch-size.ts';
import type { ChainView } from '../../term/position.ts';

/** Reads final blocks in ranges while we are far behind. While one range is stored, the one after it is already being read. */
export type RangeReader = {
  /** The range right above our tip, up to the block `finalized` at most. An error when it was too much to ask for. */
  next(finalized: number): Promise<RangeRead>;
};

type RangeRead = { endpoint: number; result: PollResult | RpcError };

/** Asks an endpoint for at most this many blocks. @returns the error when it was too much to ask, and less can be asked. */
export type Ask = (
  maxBlocks: number,
  read: (rpc: RpcProvider, context: PollContext) => Promise<PollResult>,
) => Promise<PollResult | RpcError>;

export function createRangeReader(network: { max_block_range?: number }, chain: ChainView, ask: Ask): RangeReader {
  const size = createRangeSize(network);
  /** The range above the block of this hash, which is being read for the wallets that were watched when it was asked for. */
  let prefetched: { above: string; reading: Promise<RangeRead & { asked: number }> } | null = null;

  async function readAbove(tip: BlockHead, finalized: number) {
    const asked = Math.min(size.size(), finalized - tip.number);
    let endpoint = 0;
    const result = await ask(asked, (rpc, context) => {
      endpoint = rpc.endpoint;
      return catchUp(rpc, context, tip, finalized);
    });
    return { asked, endpoint, result };
  }

  function prefetch(tip: BlockHead, finalized: number): void {
    const reading = readAbove(tip, finalized);
    // If it fails, it is read again when its turn has come.
    reading.catch(() => undefined);
    prefetched = { above: tip.hash, reading };
  }

  /**
   * The range above our tip, if it was read while the one before it was stored. Wallets that are watched only since then were not
   * looked for in it: they are back-filled up to the tip that we have after this poll.
   */
  async function takePrefetched() {
    const next = prefetched;
    prefetched = null;
    if (next?.above !== chain.tip().hash) return null;
    const read = await next.reading.catch(() => null);
    return read?.result instanceof RpcError || read?.result.kind === 'blocks' ? read : null;
  }

  return {
    async next(finalized) {
      const { asked, endpoint, result } = (await takePrefetched()) ?? (await readAbove(chain.tip(), finalized));
      if (result instanceof RpcError) size.shrink(asked, suggestedBlocks(result));
      else size.grow(asked);
      if (!(result instanceof RpcError) && result.kind === 'blocks') {
        const last = result.blocksToStore.at(-1);
        if (last !== undefined && last.number < result.finalized) prefetch(last, result.finalized);
      }
      return { endpoint, result };
    },
  };
}
