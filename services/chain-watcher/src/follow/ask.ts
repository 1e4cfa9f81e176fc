import type { LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import type { PollContext, PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { expectedAbove } from '@quittance/chain-reader/chain/read-ahead.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { nullIfFailed, RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { readBlockAt, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import type { AdaptiveBatchSize } from '../blocks/ranges.ts';
import type { ChainView, Position, Term } from '../leadership/term.ts';
import { createFinalityCheck, createFinalityQuestion, type FinalityQuestion } from './finality.ts';
import type { Pace } from './look-schedule.ts';

/** `ask_for_less`: it was too much, and the next poll asks for less. */
export type Polled = PollResult | { kind: 'ask_for_less' };

const ASKED_ANYWAY: FinalityQuestion = { asksFinality: true, asksFinalityAtTip: true, isAwaited: false };

export type AskOptions = {
  mayAcceptFork: () => boolean;
  pace: Pick<Pace, 'isSteady' | 'isAwake' | 'expects'>;
};

/** Asks an endpoint for the blocks above our tip, and checks with others what one endpoint alone must not decide. */
export function createAsk(term: Term, position: Position & { chain: LocalChain }, { mayAcceptFork, pace }: AskOptions) {
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
