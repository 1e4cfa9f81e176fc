import { isAnybodyWaiting } from '../../store/unfinished-payments.ts';
import type { Term } from '../../term/term.ts';

/** Somebody who waits goes on waiting for a while. Whether somebody has come is asked each time. */
const AWAKE_FOR_MS = 10_000;

/** Whether anybody waits on the network, so that the chain has to be followed closely. */
export function createDemand({ pool, network }: Pick<Term, 'pool' | 'network'>): { isAwake(): Promise<boolean> } {
  /** Monotonic milliseconds. */
  let awakeUntil = Number.NEGATIVE_INFINITY;
  return {
    async isAwake() {
      if (performance.now() < awakeUntil) return true;
      const isAwake = await isAnybodyWaiting(pool, network.id);
      if (isAwake) awakeUntil = performance.now() + AWAKE_FOR_MS;
      return isAwake;
    },
  };
}
