import { readFinalRange, type FinalRange } from '@quittance/chain-reader/chain/catch-up.ts';
import type { Urgency } from '@quittance/chain-reader/rpc/daily-budget.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { Term } from '../../term/term.ts';

type Ahead = { from: number; to: number; reading: Promise<FinalRange> };

/**
 * While we catch up, the next range is read as the last one is stored. What was read ahead is only used where it still follows our tip, and
 * transfers are picked from it when it is its turn, so that wallets watched meanwhile miss none.
 */
export function createRangesAhead(
  { network, endpoints, watches }: Pick<Term, 'network' | 'endpoints' | 'watches'>,
  urgency: () => Urgency,
) {
  let next: Ahead | null = null;
  return {
    /** Begins to read these blocks, unless that is nothing, or the endpoints' plans for the day have nothing left for it. */
    begin(from: number, to: number): void {
      next = null;
      if (from > to || !endpoints.mayBegin('follow', urgency())) return;
      const reading = endpoints.ask((rpc) => readFinalRange(rpc, { network, watches }, { from, to }));
      // It may never be asked for.
      reading.catch(() => undefined);
      next = { from, to, reading };
    },
    /** What begins at this block; null when nothing was read ahead. */
    take(from: number): { to: number; reading: () => Promise<FinalRange | null> } | null {
      const ahead = next;
      next = null;
      if (ahead?.from !== from) return null;
      return { to: ahead.to, reading: () => ahead.reading.catch(unlessTooMuch) };
    },
  };
}

/** Another failure is met again, or not, when the range is read in its turn. @throws RpcError `range`: less is asked for. */
function unlessTooMuch(error: unknown): null {
  if (error instanceof RpcError && error.kind !== 'range') return null;
  throw error;
}
