/** Stores what was read. Run by the loop between two polls, so that a term never has two commits under way. */
export type StoreResult = () => Promise<void>;

/**
 * One piece of reading beside the scan. Its nodes may be slow: new blocks never wait for it, and what it brings is stored only when
 * the loop asks for it.
 */
export type BackgroundReader = {
  isIdle(): boolean;
  start(read: () => Promise<StoreResult>): void;
  /** Stores what has been read meanwhile, if anything. @throws what reading or storing threw. */
  storeResult(): Promise<void>;
  /** The blocks that are being read are gone: they are never stored. */
  abandon(): void;
};

/** @param onRead called each time a result waits to be stored. */
export function createBackgroundReader(onRead: () => void): BackgroundReader {
  let reading: { result: StoreResult | null } | null = null;
  return {
    isIdle: () => reading === null,
    start(read) {
      const started: { result: StoreResult | null } = { result: null };
      reading = started;
      const result = read();
      const end = () => {
        // What it failed with is thrown where it would have been stored.
        started.result = async () => (await result)();
        onRead();
      };
      result.then(end, end);
    },
    async storeResult() {
      const store = reading?.result ?? null;
      if (store === null) return;
      reading = null;
      await store();
    },
    abandon() {
      reading = null;
    },
  };
}

/** A job that reads final blocks a second time, piece by piece. */
export type SecondReadingJob = {
  /**
   * @param isAtHead whether the scan has nothing more to read right now.
   * @returns what reads the next piece; null when nothing is due.
   */
  next(isAtHead: boolean): Promise<(() => Promise<StoreResult>) | null>;
};

export type SecondReadings = {
  /** Stores what was read in the background, and starts to read the next piece. */
  run(isAtHead: boolean): Promise<void>;
  abandon(): void;
};

/** Runs two such jobs in turns, so that neither starves the other. */
export function takeTurns(one: SecondReadingJob, other: SecondReadingJob, wake: () => void): SecondReadings {
  const background = createBackgroundReader(wake);
  let order = [one, other] as const;
  return {
    async run(isAtHead) {
      await background.storeResult();
      if (!background.isIdle()) return;
      const [first, second] = order;
      order = [second, first];
      const read = (await first.next(isAtHead)) ?? (await second.next(isAtHead));
      if (read !== null) background.start(read);
    },
    abandon: () => background.abandon(),
  };
}
