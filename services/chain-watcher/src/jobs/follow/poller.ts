import { catchUp } from '@quittance/chain-reader/chain/catch-up.ts';
import { NEAR_HEAD_BLOCKS, poll, type PollContext, type PollResult } from '@quittance/chain-reader/chain/poll.ts';
import type { FinalityClaim } from '@quittance/chain-reader/chain/finality.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { createBatchSize, createRangeSize, type AdaptiveBatchSize } from '../../reading/adaptive-batch-size.ts';
import type { WritablePosition } from '../../term/position.ts';
import type { Term } from '../../term/term.ts';
import { crossCheckPoll } from './cross-check-poll.ts';
import { createFinalityCheck } from './finality-check.ts';

type Polled = PollResult | { kind: 'ask_for_less' };

export function createPoller(term: Term, position: WritablePosition, mayAcceptFork: () => boolean) {
  const { network, endpoints, watches } = term;
  const { chain } = position;
  const nearHeadSize = createBatchSize(NEAR_HEAD_BLOCKS, NEAR_HEAD_BLOCKS);
  const rangeSize = createRangeSize(network);
  const finality = createFinalityCheck(term, position);
  let lastEndpoint = 0;
  let clockDifference: number | null = null;
  /** A final block above our tip while we are so far behind that ranges are read; else null. */
  let catchUpTo: FinalityClaim | null = null;

  /** Asks for at most this many blocks. */
  async function ask(
    size: AdaptiveBatchSize,
    maxBlocks: number,
    read: (rpc: RpcProvider, context: PollContext) => Promise<PollResult>,
  ): Promise<Polled> {
    const { finalized, hasNamedFinal } = position.heights();
    const context = { network, chain, watches, maxBlocks, finalized, hasNamedFinal };
    try {
      return await endpoints.ask(async (rpc) => {
        lastEndpoint = rpc.endpoint;
        const result = await read(rpc, context).catch((error: unknown) => {
          // Not even one block at a time: another endpoint may be less narrow.
          if (error instanceof RpcError && error.kind === 'range' && maxBlocks === 1)
            throw new RpcError('refused', error.message);
          throw error;
        });
        await crossCheckPoll(endpoints, rpc, chain, result, mayAcceptFork());
        return result.kind === 'blocks' ? { ...result, finalized: await finality.check(rpc, result) } : result;
      });
    } catch (error) {
      if (!size.shrinkAfter(error, maxBlocks)) throw error;
      return { kind: 'ask_for_less' };
    }
  }

  async function pollHead(): Promise<Polled> {
    const result = await ask(nearHeadSize, nearHeadSize.size(), poll);
    if (result.kind === 'needs_catch_up') catchUpTo = result.finalized;
    if (result.kind === 'blocks') {
      nearHeadSize.grow(result.blocksToStore.length);
      clockDifference = differenceAtHead(result) ?? clockDifference;
    }
    return result;
  }

  /** Reads the range right above our tip, up to the block `finalized` at most. */
  async function pollRange(finalized: FinalityClaim): Promise<Polled> {
    const asked = Math.min(rangeSize.size(), finalized.height - chain.tip().number);
    const result = await ask(rangeSize, asked, (rpc, context) => catchUp(rpc, context, finalized));
    if (result.kind === 'ask_for_less') catchUpTo = finalized;
    else rangeSize.grow(asked);
    if (result.kind === 'blocks') catchUpTo = result.finalized;
    return result;
  }

  return {
    /**
     * Asks the nodes once what follows our tip, in ranges while we are far behind, and learns how much may be asked at once.
     * `ask_for_less`: it was too much to ask, and the next poll asks for less.
     */
    poll(): Promise<Polled> {
      const finalized = catchUpTo;
      // One endpoint's word: it holds as long as blocks are shown for it. Otherwise the next poll starts from the head again.
      catchUpTo = null;
      return finalized !== null && finalized.height > chain.tip().number ? pollRange(finalized) : pollHead();
    },
    /** Timestamp of the newest block less our clock when it was read, in seconds; null before the first block at the head. */
    clockDifference: () => clockDifference,
    /** The endpoint that answered last. */
    lastEndpoint: () => lastEndpoint,
  };
}

/**
 * A block whose timestamp is ahead of our clock when we read it proves that the two clocks differ by as much. One from the past is only
 * read late, so of several blocks the freshest says most; while we catch up, none says anything.
 */
function differenceAtHead({ blocksToStore, head }: Extract<PollResult, { kind: 'blocks' }>): number | null {
  const newest = blocksToStore.at(-1);
  return newest?.number === head ? newest.timestamp - Date.now() / 1000 : null;
}
