import { newId } from '@quittance/contracts/ids.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { machineMs } from './machine-clock.ts';

/** Jobs that come as from the outside, whatever happens to the contender. */
export type Load = {
  /** The jobs whose addition was acknowledged, with the time of that (`machineMs`). */
  accepted: ReadonlyMap<string, number>;
  /** Additions that failed. Nobody was promised these jobs, so they need not be done. */
  refused(): number;
  /** Adds this many at once, in addition. */
  flood(count: number): Promise<void>;
  /** Waits for the additions under way. */
  stop(): Promise<void>;
};

const TICK_MS = 50;
/** An addition that hangs as long counts as failed. */
const ADDED_WITHIN_MS = 10_000;
/** Like callers with time limits: a store that hangs does not make a queue of additions. */
const MOST_UNDER_WAY = 20;
const FLOOD_BATCH = 500;

/** Adds jobs at a steady rate. What falls due while the store refuses it is not caught up. */
export function startLoad(add: (ids: readonly string[]) => Promise<void>, aSecond: number): Load {
  const accepted = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  let refused = 0;

  async function addOnce(count: number): Promise<boolean> {
    // A job whose addition failed may have been added, so its id is not used again.
    const ids = Array.from({ length: count }, () => newId('evt'));
    try {
      await withTimeout(ADDED_WITHIN_MS, add(ids), 'adding jobs');
    } catch {
      refused += count;
      return false;
    }
    const at = machineMs();
    for (const id of ids) accepted.set(id, at);
    return true;
  }

  const startedAt = machineMs();
  let due = 0;
  const ticks = setInterval(() => {
    const now = Math.floor(((machineMs() - startedAt) * aSecond) / 1_000);
    const count = now - due;
    due = now;
    if (count === 0) return;
    if (underWay.size >= MOST_UNDER_WAY) {
      refused += count;
      return;
    }
    const adding = addOnce(count).then(() => void underWay.delete(adding));
    underWay.add(adding);
  }, TICK_MS);

  return {
    accepted,
    refused: () => refused,
    async flood(count) {
      for (let added = 0; added < count; added += FLOOD_BATCH) {
        if (!(await addOnce(Math.min(FLOOD_BATCH, count - added)))) throw new Error('the flood was refused');
      }
    },
    async stop() {
      clearInterval(ticks);
      await Promise.all(underWay);
    },
  };
}
