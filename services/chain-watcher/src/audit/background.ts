/** Stores what was read: run by the loop between two looks, so that all commits of a session stay in one line. */
export type StoreReading = () => Promise<void>;

/**
 * One piece of reading beside the scan, whose nodes may be slow: new blocks never wait for it. What it brings is stored only when
 * the loop asks for it.
 */
export type Background = {
  isIdle(): boolean;
  start(read: () => Promise<StoreReading>): void;
  /** Stores what has been read meanwhile, if anything. @throws what reading or storing threw. */
  settle(): Promise<void>;
  /** Whatever is being read is of blocks that are gone: it is never stored. */
  abandon(): void;
};

/** @param whenRead called each time something is there to be stored. */
export function createBackground(whenRead: () => void): Background {
  let reading: { outcome: StoreReading | null } | null = null;
  return {
    isIdle: () => reading === null,
    start(read) {
      const mine: { outcome: StoreReading | null } = { outcome: null };
      reading = mine;
      const outcome = read();
      const end = () => {
        // What it failed with is thrown where it would have been stored.
        mine.outcome = async () => (await outcome)();
        whenRead();
      };
      outcome.then(end, end);
    },
    async settle() {
      const store = reading?.outcome ?? null;
      if (store === null) return;
      reading = null;
      await store();
    },
    abandon() {
      reading = null;
    },
  };
}
