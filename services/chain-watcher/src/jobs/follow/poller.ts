import { NEAR_HEAD_BLOCKS, poll, type PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { createBatchSize, isTooMuch } from '../../reading/adaptive-batch-size.ts';
import type { WritablePosition } from '../../term/position.ts';
import type { Term } from '../../term/term.ts';
import { afterPoll, expectedBlocks, noCadence } from './cadence.ts';
import { crossCheckPoll } from './cross-check-poll.ts';
import { createRangeReader, type Ask } from './range-reader.ts';

export type Poller = {
  /**
   * Asks the nodes once what follows our tip, in ranges while we are far behind, and learns how much may be asked at once.
   * `ask_for_less`: it was too much to ask, and the next poll asks for less.
   */
  poll(): Promise<PollResult | { kind: 'ask_for_less' }>;
  /** The endpoint that answered last. */
  lastEndpoint(): number;
};

export function createPoller(term: Term, position: WritablePosition, mayAcceptFork: () => boolean): Poller {
  const { chain } = position;
  const ask = createAsk(term, position, mayAcceptFork);
  const ranges = createRangeReader(term.network, chain, ask);
  const nearHeadSize = createBatchSize(NEAR_HEAD_BLOCKS, NEAR_HEAD_BLOCKS);
  let cadence = noCadence;
  let lastEndpoint = 0;
  /** A final block above our tip while we are so far behind that ranges are read; else null. */
  let catchUpTo: number | null = null;

  async function pollHead(): ReturnType<Poller['poll']> {
    const maxBlocks = nearHeadSize.size();
    const startedAt = performance.now();
    const expected = expectedBlocks(cadence, startedAt);
    const result = await ask(maxBlocks, (rpc, context) => {
      lastEndpoint = rpc.endpoint;
      return poll(rpc, context, expected);
    });
    if (result instanceof RpcError) {
      nearHeadSize.shrink(maxBlocks);
      return { kind: 'ask_for_less' };
    }
    if (result.kind === 'needs_catch_up') {
      catchUpTo = result.finalized;
      return result;
    }
    const found = result.kind === 'blocks' ? result.blocksToStore : [];
    nearHeadSize.grow(found.length);
    // A poll that does not come up to the head is followed by another one at once, which is no measure of how often blocks come.
    if (result.kind === 'no_new_blocks' || found.at(-1)?.number === result.head)
      cadence = afterPoll(cadence, startedAt, found.length);
    return result;
  }

  async function pollRange(finalized: number): ReturnType<Poller['poll']> {
    const { endpoint, result } = await ranges.next(finalized);
    lastEndpoint = endpoint;
    if (result instanceof RpcError) {
      catchUpTo = finalized;
      return { kind: 'ask_for_less' };
    }
    if (result.kind === 'blocks') catchUpTo = result.finalized;
    return result;
  }

  return {
    poll() {
      const finalized = catchUpTo;
      // One endpoint's word: it holds as long as blocks are shown for it. Whatever else comes of this poll, the next one asks anew.
      catchUpTo = null;
      return finalized !== null && finalized > chain.tip().number ? pollRange(finalized) : pollHead();
    },
    lastEndpoint: () => lastEndpoint,
  };
}

function createAsk(term: Term, position: WritablePosition, mayAcceptFork: () => boolean): Ask {
  const { network, endpoints, watches } = term;
  const { chain } = position;
  return async (maxBlocks, read) => {
    const context = { network, chain, watches, maxBlocks, finalized: position.heights().finalized };
    try {
      return await endpoints.ask(async (rpc) => {
        const result = await read(rpc, context).catch((error: unknown) => {
          // Not even one block at a time: another endpoint may be less narrow.
          if (error instanceof RpcError && error.kind === 'range' && maxBlocks === 1)
            throw new RpcError('refused', error.message);
          throw error;
        });
        await crossCheckPoll(endpoints, rpc, chain, result, mayAcceptFork());
        return result;
      });
    } catch (error) {
      if (isTooMuch(error) && maxBlocks > 1) return error;
      throw error;
    }
  };
}
