import { expectedAbove } from '@quittance/chain-reader/chain/expected.ts';
import type { PollContext, PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import type { AdaptiveBatchSize } from '../../reading/adaptive-batch-size.ts';
import type { Position } from '../../term/position.ts';
import type { LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import type { Term } from '../../term/term.ts';
import { crossCheckPoll } from './cross-check-poll.ts';
import { createFinalityCheck } from './finality-check.ts';
import { createFinalityQuestion, type FinalityQuestion } from './finality-question.ts';
import type { Pace } from './pace.ts';

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
