import { setImmediate as endOfTurn } from 'node:timers/promises';

/**
 * Groups items into batches. Items that arrive while one batch runs form the next one, so batches grow with the load. The first
 * batch starts at the end of the current turn of the event loop, with every item of that turn: no item waits for a timer.
 * @param run processes one batch at a time; must not throw.
 * @param track receives the promise of each run of batches, so that the caller can wait for it.
 */
export function createMicroBatcher<T>({
  maxSize,
  run,
  track,
}: {
  maxSize: number;
  run: (batch: T[]) => Promise<void>;
  track: (work: Promise<void>) => void;
}): (item: T) => void {
  const waiting: T[] = [];
  let isRunning = false;

  async function runWaiting(): Promise<void> {
    await endOfTurn();
    while (waiting.length > 0) await run(waiting.splice(0, maxSize));
    isRunning = false;
  }

  return (item) => {
    waiting.push(item);
    if (isRunning) return;
    isRunning = true;
    track(runWaiting());
  };
}
