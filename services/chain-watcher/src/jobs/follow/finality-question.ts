import { isFinalityAwaited } from '../../store/transfers.ts';
import type { Position } from '../../term/position.ts';
import type { Term } from '../../term/term.ts';

/** Of a steady chain's looks that find blocks, and of those made while a transfer waits, one in so many asks up to where it is final. */
const ASK_EVERY = 5;

/** Blocks that the next look may bring: a transfer with so many confirmations too few may have all of them then. */
const NEXT_BLOCKS = 5;

export type FinalityQuestion = {
  /** Whether to ask together with new blocks. */
  asksFinality: boolean;
  /** Whether to ask when there are none. */
  asksFinalityAtTip: boolean;
  /** Whether a transfer waits for it, or soon will for nothing else. */
  isAwaited: boolean;
};

/** Whether to ask, with the next look, up to where the chain is final. */
export function createFinalityQuestion(
  { pool, network }: Pick<Term, 'pool' | 'network'>,
  { chain, heights }: Position,
  isSteady: () => boolean,
) {
  let looks = ASK_EVERY;
  return {
    async next(): Promise<FinalityQuestion> {
      const through = chain.tip().number + NEXT_BLOCKS - network.confirmations + 1;
      const isAwaited = await isFinalityAwaited(pool, network, { after: heights().finalized, through });
      // Where only large transfers wait for it, they wait for minutes.
      const isTurn = looks + 1 >= ASK_EVERY || (isAwaited && network.finality === 'finalized');
      return { asksFinality: isTurn || !isSteady(), asksFinalityAtTip: isTurn && isAwaited, isAwaited };
    },
    onLook({ asksFinality, asksFinalityAtTip, isAwaited }: FinalityQuestion, foundBlocks: boolean): void {
      const wasAsked = foundBlocks ? asksFinality : asksFinalityAtTip;
      if (wasAsked) looks = 0;
      else if (foundBlocks || isAwaited) looks += 1;
    },
  };
}
