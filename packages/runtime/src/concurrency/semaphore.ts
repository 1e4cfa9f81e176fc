import { setImmediate as endOfTurn } from 'node:timers/promises';

/** Runs what it is given, some of it at a time; the rest waits in order. */
export type Turns = <T>(run: () => Promise<T>) => Promise<T>;

/** @param count of those that run at a time. */
export function createTurns(count: number): Turns {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (run) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/**
 * Puts things that come into batches. What comes while one batch is taken is the next one, so batches grow with the load. The
 * first one begins at the end of its turn of the event loop, with all that came in that turn; nobody waits for a timer.
 * @param take never throws.
 * @param begin is told of the work that began with an item.
 */
export function createGathering<T>({
  max,
  take,
  begin,
}: {
  max: number;
  take: (batch: T[]) => Promise<void>;
  begin: (work: Promise<void>) => void;
}): (item: T) => void {
  const waiting: T[] = [];
  let isTaking = false;

  async function takeWaiting(): Promise<void> {
    await endOfTurn();
    while (waiting.length > 0) await take(waiting.splice(0, max));
    isTaking = false;
  }

  return (item) => {
    waiting.push(item);
    if (isTaking) return;
    isTaking = true;
    begin(takeWaiting());
  };
}
