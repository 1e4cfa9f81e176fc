import { endWatches } from '../store/watches.ts';
import type { Position } from '../term/position.ts';
import { fencedTransaction, type Term } from '../term/term.ts';

const EVERY_MS = 10_000;
const MAX_AT_ONCE = 1_000;

/** Ends the watching of wallets that no payment needs any more. */
export function createEndWatchesJob(term: Term, { heights }: Position): { run(): Promise<void> } {
  let notBefore = 0;
  return {
    async run() {
      const { largeFinal } = heights();
      if (largeFinal === null || performance.now() < notBefore) return;
      notBefore = performance.now() + EVERY_MS;
      const final = new Date(largeFinal.timestamp * 1000);
      const ended = await fencedTransaction(term, (tx) => endWatches(tx, term.network.id, final, MAX_AT_ONCE));
      for (const address of ended) term.watches.delete(address);
    },
  };
}
