import { CallerGone, currentCaller, requireWaitingCaller } from './caller.ts';
import { startTimeout } from './deadline.ts';
import { Overloaded } from './overloaded.ts';

/**
 * Limits how many functions run at once for each key. The others of that key wait in order; other keys are not delayed.
 */
export type KeyedQueue = <T>(key: string, run: () => Promise<T>) => Promise<T>;

/**
 * Work waits here before it takes a database connection, instead of waiting for its key's lock while it holds one. An
 * idle key uses no memory.
 * @param perKey how many may run at once for each key.
 * @param maxWaiting how many may wait for each key. Further calls are rejected with Overloaded.
 * @returns a queue. When a caller stops waiting, its function doesn't run and the call is rejected with CallerGone.
 */
export function createKeyedQueue({
  perKey,
  maxWaiting = Infinity,
}: {
  perKey: number;
  maxWaiting?: number;
}): KeyedQueue {
  const lanes = new Map<string, Lane>();
  return async (key, run) => {
    const lane = lanes.get(key) ?? { running: 0, waiting: new Set() };
    lanes.set(key, lane);
    if (lane.running < perKey) lane.running += 1;
    else {
      if (lane.waiting.size >= maxWaiting) throw new Overloaded(maxWaiting);
      await turnOf(lane);
    }
    try {
      return await run();
    } finally {
      const [next] = lane.waiting;
      // The next one takes over this slot.
      if (next !== undefined) next();
      else if (--lane.running === 0) lanes.delete(key);
    }
  };
}

type Lane = { running: number; waiting: Set<() => void> };

function turnOf({ waiting }: Lane): Promise<void> {
  requireWaitingCaller();
  const caller = currentCaller();
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      stopWatching();
      if (caller !== null && waiting.delete(enter)) reject(new CallerGone(caller));
    };
    const enter = (): void => {
      stopWatching();
      waiting.delete(enter);
      resolve();
    };
    const withinMs = caller?.commitWithinMs() ?? Infinity;
    const cancel = withinMs < Infinity ? startTimeout(withinMs, leave) : () => undefined;
    const stopWatching = (): void => {
      cancel();
      caller?.hungUp.removeEventListener('abort', leave);
    };
    caller?.hungUp.addEventListener('abort', leave);
    waiting.add(enter);
  });
}
