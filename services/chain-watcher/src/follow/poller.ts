import { catchUp, readFinalRange, type FinalRange } from '@quittance/chain-reader/chain/catch-up.ts';
import type { FinalityClaim } from '@quittance/chain-reader/chain/finality.ts';
import type { LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { poll, type PollContext, type PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { expectedAbove, NEAR_HEAD_BLOCKS } from '@quittance/chain-reader/chain/read-ahead.ts';
import type { Urgency } from '@quittance/chain-reader/rpc/daily-budget.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { nullIfFailed, RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { readBlockAt, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import { createBatchSize, createRangeSize, type AdaptiveBatchSize } from '../blocks/ranges.ts';
import type { ChainView, Position, Term, WritablePosition } from '../leadership/term.ts';
import { createFinalityCheck, createFinalityQuestion, type FinalityQuestion } from './finality.ts';
import type { Pace } from './look-schedule.ts';

/** `ask_for_less`: it was too much, and the next poll asks for less. */
type Polled = PollResult | { kind: 'ask_for_less' };

type AskOptions = {
  mayAcceptFork: () => boolean;
  pace: Pick<Pace, 'isSteady' | 'isAwake' | 'expects'>;
};

/** Polls the nodes for the blocks above our tip. */
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
    /** Asks the nodes once, for ranges while we are far behind, and learns how much they answer at once. */
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

const ASKED_ANYWAY: FinalityQuestion = { asksFinality: true, asksFinalityAtTip: true, isAwaited: false };

/** Asks an endpoint for the blocks above our tip, and checks with others what one endpoint alone must not decide. */
function createAsk(term: Term, position: Position & { chain: LocalChain }, { mayAcceptFork, pace }: AskOptions) {
  const { network, endpoints, watches } = term;
  const { chain } = position;
  const finality = createFinalityCheck(term, position);
  const finalityQuestion = createFinalityQuestion(term, position, pace.isSteady);
  let lastEndpoint = 0;

  return {
    /** The endpoint that answered last. */
    lastEndpoint: () => lastEndpoint,
    /**
     * Asks for at most this many blocks.
     * @param readsFinality whether `read` asks for the final block in any case.
     */
    async ask(
      size: AdaptiveBatchSize,
      { maxBlocks, readsFinality }: { maxBlocks: number; readsFinality: boolean },
      read: (rpc: RpcProvider, context: PollContext) => Promise<PollResult>,
    ): Promise<Polled> {
      const { finalized, hasNamedFinal } = position.heights();
      const question = readsFinality ? ASKED_ANYWAY : await finalityQuestion.next();
      const expected = expectedAbove(network, watches, { expects: pace.expects(), isAwake: pace.isAwake() });
      const context = { network, chain, watches, maxBlocks, finalized, hasNamedFinal, ...question, expected };
      try {
        const answer = await endpoints.ask(async (rpc) => {
          lastEndpoint = rpc.endpoint;
          const result = await read(rpc, context).catch((error: unknown) => {
            // This endpoint refuses even a single block. Another one may not.
            if (error instanceof RpcError && error.kind === 'range' && maxBlocks === 1)
              throw new RpcError('refused', error.message);
            throw error;
          });
          await crossCheckPoll(endpoints, rpc, chain, result, mayAcceptFork());
          const isAsked = result.kind === 'blocks' ? question.asksFinality : question.asksFinalityAtTip;
          if (!isAsked || (result.kind !== 'blocks' && result.kind !== 'no_new_blocks')) return result;
          return { ...result, finalized: await finality.check(rpc, result) };
        });
        finalityQuestion.onLook(question, answer.kind === 'blocks');
        return answer;
      } catch (error) {
        if (!size.shrinkAfter(error, maxBlocks)) throw error;
        return { kind: 'ask_for_less' };
      }
    },
  };
}

/** Validators' clocks differ by seconds. A block that is further ahead may have a time that only one node shows. */
const MAX_AHEAD_MS = 60_000;

/**
 * Checks with a second endpoint an answer that would do harm if it were wrong. Without a second endpoint, or while none answers, the
 * answer is accepted.
 * @throws RpcError `invalid_answer` when another endpoint contradicts it.
 */
async function crossCheckPoll(
  endpoints: Endpoints,
  rpc: RpcProvider,
  chain: ChainView,
  result: PollResult,
  mayAcceptFork: boolean,
): Promise<void> {
  const ask: Ask = (read) => nullIfFailed(endpoints.askAnother(read, rpc.endpoint));
  if (result.kind === 'blocks' && (await hasUntrueTime(ask, result)))
    throw new RpcError('invalid_answer', 'a block from the future that another node does not have');
  if (result.kind !== 'fork') return;
  const { fork, head } = result;
  if (fork.kind === 'reorg' && (await isOnDeadBranch(ask, chain, head)))
    throw new RpcError('invalid_answer', 'a branch that is not longer than the one that another node has');
  // An operator who accepted the fork knows that some endpoints do not follow it yet.
  if (fork.kind === 'below_finalized' && !mayAcceptFork && (await hasBlock(ask, fork.number, fork.ours)))
    throw new RpcError('invalid_answer', 'a fork below the final block that another node does not have');
}

/** @returns null when no other endpoint is configured, or none answers. */
type Ask = <T>(read: (other: RpcProvider) => Promise<T>) => Promise<T | null>;

/**
 * A node that is stuck on a dead branch looks like a reorg. So a branch is not followed while another endpoint has our tip in a chain
 * that is at least as long. If the chain has really changed, that endpoint will soon have a different tip, too.
 */
async function isOnDeadBranch(ask: Ask, chain: ChainView, head: number): Promise<boolean> {
  const tip = chain.tip();
  const theirs = await ask((other) => Promise.all([readHead(other), readBlockAt(other, tip.number)]));
  return theirs !== null && theirs[1]?.hash === tip.hash && theirs[0].number >= head;
}

async function hasBlock(ask: Ask, number: number, hash: string): Promise<boolean> {
  const block = await ask((other) => readBlockAt(other, number));
  return block?.hash === hash;
}

/** "Scanned through" is a block time. A time in the future would cover blocks that have not been read yet. */
async function hasUntrueTime(ask: Ask, { blocksToStore }: Extract<PollResult, { kind: 'blocks' }>): Promise<boolean> {
  const last = blocksToStore.at(-1);
  if (last === undefined || last.timestamp * 1000 <= Date.now() + MAX_AHEAD_MS) return false;
  const theirs = await ask(async (other) => ({ block: await readBlockAt(other, last.number) }));
  return theirs !== null && (theirs.block?.hash !== last.hash || theirs.block.timestamp !== last.timestamp);
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

/** After other failures, the range is simply read again. @throws RpcError `range`, so that the caller asks for less. */
function unlessTooMuch(error: unknown): null {
  if (error instanceof RpcError && error.kind !== 'range') return null;
  throw error;
}
