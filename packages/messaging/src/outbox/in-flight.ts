/** Runs several tasks at the same time, up to a limit. */
export function createInFlight(most: number) {
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;
  return {
    /** Waits for a free place. @throws the error of a run that has failed since the last call. */
    async room(): Promise<void> {
      while (running.size >= most) await Promise.race(running);
      if (failure === null) return;
      const { error } = failure;
      failure = null;
      throw error;
    },
    start(run: () => Promise<void>): void {
      const ended = run()
        .catch((error: unknown) => void (failure = { error }))
        .finally(() => running.delete(ended));
      running.add(ended);
    },
    async ended(): Promise<void> {
      await Promise.all(running);
    },
  };
}
