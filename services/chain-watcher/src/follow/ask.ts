import type { LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import type { PollContext, PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { expectedAbove } from '@quittance/chain-reader/chain/read-ahead.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { readBlockAt, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import type { AdaptiveBatchSize } from '../blocks/ranges.ts';
import type { ChainView, Position, Term } from '../leadership/term.ts';
import { createFinalityCheck, createFinalityQuestion, type FinalityQuestion } from './finality.ts';
import type { Pace } from './look-schedule.ts';

/** `ask_for_less`: it was too much to ask, and the next poll asks for less. */
export type Polled = PollResult | { kind: 'ask_for_less' };

const ASKED_ANYWAY: FinalityQuestion = { asksFinality: true, asksFinalityAtTip: true, isAwaited: false };

export type AskOptions = {
  mayAcceptFork: () => boolean;
  pace: Pick<Pace, 'isSteady' | 'isAwake' | 'expects'>;
};

/** Asks the endpoints what follows our tip, and checks with others what one of them alone may not decide. */
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
     * @param readsFinality whether it reads up to where the chain is final in any case.
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
            // Not even one block at a time: another endpoint may be less narrow.
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

/** Clocks of validators differ by seconds. A block from further ahead has a time that no other node may see. */
const MAX_AHEAD_MS = 60_000;

/**
 * Checks with a second endpoint an answer of one endpoint that would cost much if it were wrong. Without a second endpoint, or
 * while none answers, it is accepted.
 * @throws RpcError `invalid_answer` when another endpoint knows better.
 */
async function crossCheckPoll(
  endpoints: Endpoints,
  rpc: RpcProvider,
  chain: ChainView,
  result: PollResult,
  mayAcceptFork: boolean,
): Promise<void> {
  const ask = <T>(read: (other: RpcProvider) => Promise<T>) => askAnother(endpoints, rpc, read);
  if (result.kind === 'blocks' && (await hasUntrueTime(ask, result)))
    throw new RpcError('invalid_answer', 'a block from the future that another node does not have');
  if (result.kind !== 'fork') return;
  const { fork, head } = result;
  if (fork.kind === 'reorg' && (await isOnDeadBranch(ask, chain, head)))
    throw new RpcError('invalid_answer', 'a branch that is no longer than the one which another node has');
  // An operator who has accepted the fork knows that some endpoints do not follow it yet.
  if (fork.kind === 'below_finalized' && !mayAcceptFork && (await hasBlock(ask, fork.number, fork.ours)))
    throw new RpcError('invalid_answer', 'a fork below what is final, of which another node knows nothing');
}

type Ask = <T>(read: (other: RpcProvider) => Promise<T>) => Promise<T | null>;

/** @returns null when no other endpoint is configured, or none answers. */
async function askAnother<T>(
  endpoints: Endpoints,
  { endpoint }: RpcProvider,
  read: (other: RpcProvider) => Promise<T>,
): Promise<T | null> {
  try {
    return await endpoints.askAnother(read, endpoint);
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

/**
 * A node that is stuck on a dead branch looks just as if the chain had been reorganised. So a branch is not followed while another
 * endpoint has our tip in a chain that is at least as long: had the chain really changed, that one would soon have another tip as well.
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

/** "Scanned through" is a block time, so one from the future would cover blocks that are not read yet. */
async function hasUntrueTime(ask: Ask, { blocksToStore }: Extract<PollResult, { kind: 'blocks' }>): Promise<boolean> {
  const last = blocksToStore.at(-1);
  if (last === undefined || last.timestamp * 1000 <= Date.now() + MAX_AHEAD_MS) return false;
  const theirs = await ask(async (other) => ({ block: await readBlockAt(other, last.number) }));
  return theirs !== null && (theirs.block?.hash !== last.hash || theirs.block.timestamp !== last.timestamp);
}
