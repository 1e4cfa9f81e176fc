import { setImmediate as endOfTurn } from 'node:timers/promises';

import { withCaller } from './caller.ts';

/**
 * Returns a function whose calls share runs. Items that arrive while `concurrency` runs are in progress form the next
 * batch, so batches grow with the load. A run starts at the end of the current turn of the event loop, with every item
 * of that turn: no item waits for a timer.
 * @param rest is awaited after a run that was not full. Items that arrive meanwhile form one batch.
 * @param run returns the results in the order of its items. When it throws, each of its callers gets that error. A
 *   promise among the results delays only its own caller.
 */
export function createMicroBatcher<Item, Result>({
  maxSize,
  concurrency = 1,
  rest,
  run,
}: {
  maxSize: number;
  concurrency?: number;
  rest?: () => Promise<void>;
  run: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>;
}): (item: Item) => Promise<Result> {
  const waiting: (PromiseWithResolvers<Result> & { item: Item })[] = [];
  let running = 0;

  /** @returns whether the batch was full. */
  async function runBatch(): Promise<boolean> {
    const batch = waiting.splice(0, maxSize);
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    return batch.length === maxSize;
  }

  async function runWaiting(): Promise<void> {
    running += 1;
    await endOfTurn();
    while (waiting.length > 0) {
      const isFull = await runBatch();
      if (!isFull) await rest?.();
    }
    running -= 1;
  }

  return (item) => {
    const call = { item, ...Promise.withResolvers<Result>() };
    waiting.push(call);
    // The run is shared, so it doesn't end when the caller that started it hangs up.
    if (running < concurrency) void withCaller(null, runWaiting);
    return call.promise;
  };
}
