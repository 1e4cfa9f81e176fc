import { paces, type Pace } from '../state.ts';

/** How many attempts may be in flight at once in this process. */
export type Limits = {
  /** Of one merchant. */
  lane: number;
  /** Towards one host. */
  host: number;
  /** In all. Lanes that are neither slow nor new can use all of it. */
  process: number;
  /** Of all slow lanes, with the attempts of others that take long. */
  slow: number;
  /** Of slow and new lanes together. */
  unproven: number;
  /**
   * From one attempt of theirs to the next, where nothing is busy. Nearly each needs a TLS handshake, and hundreds of those in a second,
   * here and at receivers that share a machine, would make the quick lanes wait.
   */
  unprovenEveryMs: number;
  /** An attempt that takes longer counts as a slow one, so that new receivers that hang make room for the next. */
  slowAttemptMs: number;
  /**
   * One that takes longer makes its lane slow. A machine that is busy for a moment must not do that to everybody. Without a whole answer
   * `slowAttemptMs` is enough.
   */
  slowLaneMs: number;
};

/**
 * Receivers that hang hold their places for fifteen seconds. They fill the share of the slow ones, a popular host fills its own, and
 * neither the process. At full load about half of the attempts in flight have ended and wait for their outcomes to be stored.
 */
export const limits: Limits = {
  lane: 8,
  host: 64,
  process: 1_536,
  slow: 384,
  unproven: 1_024,
  unprovenEveryMs: 40,
  slowAttemptMs: 1_000,
  slowLaneMs: 5_000,
};

/** The places for attempts in flight, and which lanes may have them. */
export type Places = ReturnType<typeof createPlaces>;

/** Counts the places that are taken, by the pace that their attempts count as, and says what is left for whom. */
export function createPlaces(most: Limits) {
  const taken: Record<Pace, number> = { quick: 0, new: 0, slow: 0 };
  const total = (): number => paces.reduce((sum, pace) => sum + taken[pace], 0);

  /** Places that a pace has left. */
  function room(pace: Pace): number {
    const left = most.process - total();
    if (pace === 'quick') return left;
    const unproven = Math.min(left, most.unproven - taken.new - taken.slow);
    return pace === 'slow' ? Math.min(unproven, most.slow - taken.slow) : unproven;
  }

  const freeForQuick = (): number =>
    Math.min((most.process - total()) / (most.process - most.unproven), 1 - (2 * taken.quick) / most.process);

  return {
    taken,
    room,
    /** Places that are left in all. */
    left: (): number => most.process - total(),
    /** What one lane may have: less, the fewer places are left, so that lanes which all turn slow at once do not fill the process. */
    laneLimit(pace: Pace): number {
      // None of its attempts has ended yet.
      if (pace === 'new') return 1;
      const free = pace === 'slow' ? 1 - taken.slow / most.slow : freeForQuick();
      return Math.max(1, Math.min(most.lane, Math.ceil(most.lane * free)));
    },
    /** Counts a place as another pace's, as taken or as free again (null). @returns the paces that had no room and have some now. */
    move(from: Pace | null, to: Pace | null): Pace[] {
      const full = paces.filter((pace) => room(pace) <= 0);
      if (from !== null) taken[from] -= 1;
      if (to !== null) taken[to] += 1;
      return full.filter((pace) => room(pace) > 0);
    },
  };
}
