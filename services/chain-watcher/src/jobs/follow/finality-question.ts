import { isFinalityAwaited } from '../../store/transfers.ts';
import type { Position } from '../../term/position.ts';
import type { Term } from '../../term/term.ts';

/** Readings of a steady chain's blocks of which one asks up to where it is final, unless a transfer waits for that. */
const ASK_EVERY = 5;

/** Whether to ask, with the next blocks, up to where the chain is final. */
export function createFinalityQuestion(
  { pool, network }: Pick<Term, 'pool' | 'network'>,
  { chain, heights }: Position,
  isSteady: () => boolean,
) {
  let readings = ASK_EVERY;
  return {
    async isDue(): Promise<boolean> {
      if (!isSteady() || readings + 1 >= ASK_EVERY) return true;
      // Any number of blocks may come at once, and none after them.
      const through = chain.tip().number;
      return isFinalityAwaited(pool, network, { after: heights().finalized, through });
    },
    /** Blocks have been read, with that question or without. */
    onRead(wasAsked: boolean): void {
      readings = wasAsked ? 0 : readings + 1;
    },
  };
}
