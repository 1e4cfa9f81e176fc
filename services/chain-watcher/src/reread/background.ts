/** Stores what was read. The loop runs it between two polls, so that a term never has two commits at the same time. */
export type StoreResult = () => Promise<void>;

/** A job that reads final blocks a second time, piece by piece. */
export type SecondReadingJob = {
  /**
   * @param isAtHead whether the scan has read everything.
   * @returns a function that reads the next piece; null when nothing is due.
   */
  next(isAtHead: boolean): Promise<(() => Promise<StoreResult>) | null>;
};

/**
 * Runs two such jobs in turns, so that neither starves the other. One piece at a time is read in the background. New blocks never wait for
 * it, even when its nodes are slow, and its result is stored only when the loop calls run().
 * @param wake called each time a result is ready to be stored.
 */
export function takeTurns(one: SecondReadingJob, other: SecondReadingJob, wake: () => void) {
  let reading: { result: StoreResult | null } | null = null;
  let order = [one, other] as const;

  function start(read: () => Promise<StoreResult>): void {
    const started: { result: StoreResult | null } = { result: null };
    reading = started;
    const result = read();
    const end = () => {
      // An error is thrown when the result would be stored.
      started.result = async () => (await result)();
      wake();
    };
    result.then(end, end);
  }

  return {
    /** Stores what was read in the background, and starts to read the next piece. @throws any error of reading or storing. */
    async run(isAtHead: boolean): Promise<void> {
      if (reading !== null) {
        const store = reading.result;
        if (store === null) return;
        reading = null;
        await store();
      }
      const [first, second] = order;
      order = [second, first];
      const read = (await first.next(isAtHead)) ?? (await second.next(isAtHead));
      if (read !== null) start(read);
    },
    /** The blocks that are being read are gone, so the result is not stored. */
    abandon(): void {
      reading = null;
    },
  };
}
