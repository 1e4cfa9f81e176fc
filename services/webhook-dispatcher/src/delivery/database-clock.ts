/** The database's time, between the moments at which it tells it. */
export type DatabaseClock = {
  /** Takes the time that the database told just now. */
  set(databaseNow: Date): void;
  now(): Date;
};

/** Runs on a clock that never steps, so that one wrong clock of this machine makes no attempt look late. */
export function createDatabaseClock(): DatabaseClock {
  let offsetMs = Date.now() - performance.now();
  return {
    set: (databaseNow) => void (offsetMs = databaseNow.getTime() - performance.now()),
    now: () => new Date(performance.now() + offsetMs),
  };
}
