/** Stores what was read. Run by the loop between two polls, so that a term never has two commits under way. */
export type StoreResult = () => Promise<void>;

/** A job that reads final blocks a second time, piece by piece. */
export type SecondReadingJob = {
  /**
   * @param isAtHead whether the scan has nothing more to read right now.
   * @returns what reads the next piece; null when nothing is due.
   */
  next(isAtHead: boolean): Promise<(() => Promise<StoreResult>) | null>;
};

/**
 * Runs two such jobs in turns, so that neither starves the other. One piece at a time is read beside the scan. Its nodes may be slow:
 * new blocks never wait for it, and what it brings is stored only when the loop asks for it.
 * @param wake called each time a result waits to be stored.
 */
export function takeTurns(one: SecondReadingJob, other: SecondReadingJob, wake: () => void) {
  let reading: { result: StoreResult | null } | null = null;
  let order = [one, other] as const;

  function start(read: () => Promise<StoreResult>): void {
    const started: { result: StoreResult | null } = { result: null };
    reading = started;
    const result = read();
    const end = () => {
      // What it failed with is thrown where it would have been stored.
      started.result = async () => (await result)();
      wake();
    };
    result.then(end, end);
  }

  return {
    /** Stores what was read in the background, and starts to read the next piece. @throws what reading or storing threw. */
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
    /** The blocks that are being read are gone: they are never stored. */
    abandon(): void {
      reading = null;
    },
  };
}
