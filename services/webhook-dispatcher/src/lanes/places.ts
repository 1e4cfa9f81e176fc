import { paces, type Pace } from '../state.ts';
import type { CircuitPolicy } from './claim.sql.ts';

/** How many attempts may be in flight in this process. */
export type Limits = {
  /** Of one lane. */
  lane: number;
  /** To one host. */
  host: number;
  /** In total. Quick lanes may use all of it. */
  process: number;
  /** Of all slow lanes, including long attempts of other lanes. */
  slow: number;
  /** Of slow and new lanes together. */
  unproven: number;
  /**
   * Time between two attempts of slow and new lanes on an idle machine. Almost every one needs a TLS handshake. Hundreds of handshakes a
   * second, here and at receivers that share a machine, would make the quick lanes wait.
   */
  unprovenEveryMs: number;
  /** A longer attempt counts as slow, so that new receivers that hang make room for the next ones. */
  slowAttemptMs: number;
  /**
   * A longer attempt makes its lane slow. It is longer than `slowAttemptMs`, so that a short overload does not make every lane slow. Without a
   * whole answer `slowAttemptMs` counts.
   */
  slowLaneMs: number;
};

/**
 * A receiver that hangs holds its places for fifteen seconds. Such receivers can fill the share of slow lanes, and a popular host its own
 * share, but neither can fill the process. At full load about half of the attempts in flight have ended and wait until they are stored.
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

export type Places = ReturnType<typeof createPlaces>;

/** Counts the taken places by pace, and calculates how many are left for each pace and lane. */
export function createPlaces(most: Limits) {
  const taken: Record<Pace, number> = { quick: 0, new: 0, slow: 0 };
  const total = (): number => paces.reduce((sum, pace) => sum + taken[pace], 0);

  /** Places left for a pace. */
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
    /** Places left in total. */
    left: (): number => most.process - total(),
    /** The limit of one lane. It falls with the places left, so that lanes that become slow at the same time do not fill the process. */
    laneLimit(pace: Pace): number {
      // No attempt of a new lane has ended yet.
      if (pace === 'new') return 1;
      const free = pace === 'slow' ? 1 - taken.slow / most.slow : freeForQuick();
      return Math.max(1, Math.min(most.lane, Math.ceil(most.lane * free)));
    },
    /** Moves a place between paces, or takes or frees it (null). @returns the paces that had no room and now have some. */
    move(from: Pace | null, to: Pace | null): Pace[] {
      const full = paces.filter((pace) => room(pace) <= 0);
      if (from !== null) taken[from] -= 1;
      if (to !== null) taken[to] += 1;
      return full.filter((pace) => room(pace) > 0);
    },
  };
}

/**
 * When a lane's circuit opens: a receiver's restart or a single bad event causes fewer failures. The circuit's state is in columns of `lane`,
 * and settle_attempts() changes it.
 */
export const laneCircuitPolicy: CircuitPolicy = {
  openAfter: 50,
  openAfterSeconds: 10,
  longestOpenSeconds: 60,
  recoveredAt: limits.lane,
};
