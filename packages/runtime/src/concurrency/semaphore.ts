/** Limits how many functions run at once. The others wait in order. */
export type Semaphore = <T>(run: () => Promise<T>) => Promise<T>;

/** @param permits how many may run at once; Infinity for no limit. */
export function createSemaphore(permits: number): Semaphore {
  const waiting: (() => void)[] = [];
  let free = permits;
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
