import { catchUp, readFinalRange, type FinalRange } from '@quittance/chain-reader/chain/catch-up.ts';
import type { FinalityClaim } from '@quittance/chain-reader/chain/finality.ts';
import { poll, type PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { NEAR_HEAD_BLOCKS } from '@quittance/chain-reader/chain/read-ahead.ts';
import type { Urgency } from '@quittance/chain-reader/rpc/daily-budget.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { createBatchSize, createRangeSize } from '../blocks/ranges.ts';
import type { Term, WritablePosition } from '../leadership/term.ts';
import { createAsk, type AskOptions, type Polled } from './ask.ts';

export function createPoller(term: Term, position: WritablePosition, options: AskOptions) {
  const { network } = term;
  const { chain } = position;
  const nearHeadSize = createBatchSize(NEAR_HEAD_BLOCKS, NEAR_HEAD_BLOCKS);
  const rangeSize = createRangeSize(network);
  const { ask, lastEndpoint } = createAsk(term, position, options);
  const rangesAhead = createRangesAhead(term, () => (options.pace.isAwake() ? 'payments' : 'background'));
  let clockDifference: number | null = null;
  /** A final block above our tip while we are so far behind that ranges are read; otherwise null. */
  let catchUpTo: FinalityClaim | null = null;

  async function pollHead(): Promise<Polled> {
    const result = await ask(nearHeadSize, { maxBlocks: nearHeadSize.size(), readsFinality: false }, poll);
    if (result.kind === 'needs_catch_up') catchUpTo = result.finalized;
    if (result.kind === 'blocks') {
      nearHeadSize.grow(result.blocksToStore.length);
      clockDifference = differenceAtHead(result) ?? clockDifference;
    }
    return result;
  }

  /** Reads the range directly above our tip, at most up to the block `finalized`. */
  async function pollRange(finalized: FinalityClaim): Promise<Polled> {
    const from = chain.tip().number + 1;
    const ahead = rangesAhead.take(from);
    const to = ahead?.to ?? Math.min(finalized.height, from + rangeSize.size() - 1);
    const asked = to - from + 1;
    const result = await ask(rangeSize, { maxBlocks: asked, readsFinality: true }, async (rpc, context) =>
      catchUp(rpc, context, finalized, (await ahead?.reading()) ?? null),
    );
    if (result.kind === 'ask_for_less') catchUpTo = finalized;
    else rangeSize.grow(asked);
    if (result.kind !== 'blocks') return result;
    catchUpTo = result.finalized;
    rangesAhead.begin(to + 1, Math.min(finalized.height, to + rangeSize.size()));
    return result;
  }

  return {
    /**
     * Asks the nodes once for the blocks above our tip, in ranges while we are far behind, and learns how much they answer at once.
     */
    poll(): Promise<Polled> {
      const finalized = catchUpTo;
      // Only one endpoint claims this block. If it cannot show the blocks up to there, the next poll starts from the head again.
      catchUpTo = null;
      return finalized !== null && finalized.height > chain.tip().number ? pollRange(finalized) : pollHead();
    },
    /** Timestamp of the newest block minus our clock when it was read, in seconds; null before the first block at the head. */
    clockDifference: () => clockDifference,
    lastEndpoint,
  };
}

/**
 * A block whose timestamp is ahead of our clock proves that the two clocks differ by at least that much. A block from the past may only have
 * been read late, so the newest of several blocks says most. While we catch up, no block says anything.
 */
function differenceAtHead({ blocksToStore, head }: Extract<PollResult, { kind: 'blocks' }>): number | null {
  const newest = blocksToStore.at(-1);
  return newest?.number === head ? newest.timestamp - Date.now() / 1000 : null;
}

type Ahead = { from: number; to: number; reading: Promise<FinalRange> };

/**
 * While we catch up, the next range is read while the last one is stored. It is used only if it still follows our tip. Transfers are
 * picked from it when it is stored, so that wallets which are watched by then miss none.
 */
export function createRangesAhead(
  { network, endpoints, watches }: Pick<Term, 'network' | 'endpoints' | 'watches'>,
  urgency: () => Urgency,
) {
  let next: Ahead | null = null;
  return {
    /** Begins to read these blocks, unless there are none or the endpoints' daily plans do not allow it. */
    begin(from: number, to: number): void {
      next = null;
      if (from > to || !endpoints.mayBegin('follow', urgency())) return;
      const reading = endpoints.ask((rpc) => readFinalRange(rpc, { network, watches }, { from, to }));
      // Nothing may ever await it.
      reading.catch(() => undefined);
      next = { from, to, reading };
    },
    /** The range that begins at this block; null when none was read ahead. */
    take(from: number): { to: number; reading: () => Promise<FinalRange | null> } | null {
      const ahead = next;
      next = null;
      if (ahead?.from !== from) return null;
      return { to: ahead.to, reading: () => ahead.reading.catch(unlessTooMuch) };
    },
  };
}

/** The range is read again after most failures. @throws RpcError `range`, so that the caller asks for less. */
function unlessTooMuch(error: unknown): null {
  if (error instanceof RpcError && error.kind !== 'range') return null;
  throw error;
}
