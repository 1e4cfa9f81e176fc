import type { ClaimBounds, CircuitPolicy } from './claim.sql.ts';
import { paces, type Pace } from '../state.ts';
import type { HostCircuits } from './host-circuits.ts';

/** An attempt's lane and host, and how fast the lane's attempts ended recently. */
type AttemptTarget = { lane_id: string; host: string; pace: Pace };

/** A lane with attempts in flight. */
type Lane = {
  pace: Pace;
  places: number;
  /** Its attempts that have not ended, oldest first. */
  running: Running[];
  /** Paces whose deliveries may be waiting for one of this lane's places. */
  waiting: Set<Pace>;
};

/** `countsAs`: the pace whose place it takes. */
type Running = { startedMs: number; countsAs: Pace };

/** The place of one attempt. */
export type Place = {
  /**
   * Call it when the attempt has ended. The place stays taken until the outcome is stored.
   * @param isComplete whether a whole answer arrived. Without one, an attempt of one second makes its lane slow, because the time limits for
   * names, connections and bodies are shorter than `slowLaneMs`.
   * @returns the lane's new pace.
   */
  ended(isComplete: boolean): Pace;
  /** @returns the paces whose deliveries may be waiting for this place, because a limit was reached. */
  release(): ReadonlySet<Pace>;
};

export type InFlightLimits = ReturnType<typeof createInFlightLimits>;

/**
 * The bulkheads of this process: a slow receiver fills its own lane, all slow receivers together fill their share, and others always find a
 * place.
 * @param nowMs a monotonic clock that stops while the process is frozen, so that a frozen process does not find every receiver slow.
 */
export function createInFlightLimits(most: Limits, hostCircuits: HostCircuits, nowMs: () => number) {
  const places = createPlaces(most);
  const hosts = createHostLimits(most.host, hostCircuits);
  const lanes = new Map<string, Lane>();
  /** Lanes that have become slow here and are not marked in the database yet. */
  const turnedSlow = new Set<string>();
  const isOlder = (attempt: Running | undefined, ms: number): boolean =>
    attempt !== undefined && nowMs() - attempt.startedMs > ms;

  /** An attempt can be slow, and make its lane slow, before it has ended. */
  function findSlow(): void {
    for (const [laneId, lane] of lanes) {
      for (const attempt of lane.running) if (isOlder(attempt, most.slowAttemptMs)) count(places, attempt, 'slow');
      if (lane.pace === 'slow' || !isOlder(lane.running[0], most.slowLaneMs)) continue;
      lane.pace = 'slow';
      turnedSlow.add(laneId);
    }
  }

  function ended(lane: Lane, attempt: Running, isComplete: boolean): Pace {
    lane.running.splice(lane.running.indexOf(attempt), 1);
    const isSlow = isOlder(attempt, isComplete ? most.slowLaneMs : most.slowAttemptMs);
    lane.pace = isSlow || isOlder(lane.running[0], most.slowLaneMs) ? 'slow' : 'quick';
    for (const opened of count(places, attempt, lane.pace)) lane.waiting.add(opened);
    // Deliveries that waited in this lane have its new pace.
    if (lane.waiting.size > 0) lane.waiting.add(lane.pace);
    return lane.pace;
  }

  function release(lane: Lane, attempt: Running, { lane_id: laneId, host }: AttemptTarget): ReadonlySet<Pace> {
    const freed = [...lane.waiting, ...(hosts.room(host) <= 0 ? paces : [])];
    lane.waiting.clear();
    lane.places -= 1;
    if (lane.places === 0) lanes.delete(laneId);
    hosts.remove(host);
    return new Set([...freed, ...places.move(attempt.countsAs, null)]);
  }

  return {
    /** What may be claimed now for these paces. */
    claimBounds(of: readonly Pace[] = paces): Omit<ClaimBounds, 'leaseSeconds'> {
      findSlow();
      return boundsOf(most, of, { places, hosts, lanes, turnedSlow });
    },
    /** Lanes that have become slow by an attempt that has not ended, until they are marked. Meanwhile no claim takes their deliveries. */
    turnedSlow(): string[] {
      findSlow();
      return [...turnedSlow];
    },
    markedSlow(laneIds: readonly string[]): void {
      for (const laneId of laneIds) turnedSlow.delete(laneId);
    },
    /** @returns null if a limit is reached. */
    acquire(target: AttemptTarget): Place | null {
      const { lane_id: laneId, host, pace } = target;
      const lane = lanes.get(laneId) ?? { pace, places: 0, running: [], waiting: new Set() };
      if (lane.pace === 'new') lane.pace = pace;
      if (places.room(lane.pace) <= 0 || lane.places >= most.lane || hosts.room(host) <= 0) return null;
      const attempt: Running = { startedMs: nowMs(), countsAs: lane.pace };
      lanes.set(laneId, lane);
      lane.places += 1;
      lane.running.push(attempt);
      places.move(null, attempt.countsAs);
      hosts.add(host);
      if (lane.places >= places.laneLimit(lane.pace)) lane.waiting.add(lane.pace);
      return { ended: (isComplete) => ended(lane, attempt, isComplete), release: () => release(lane, attempt, target) };
    },
    /** Attempts in flight, by the pace they count as. */
    counts: (): Readonly<Record<Pace, number>> => places.taken,
  };
}

/** Counts an attempt as another pace's. @returns the paces that had no room and now have some. */
function count(places: Places, attempt: Running, pace: Pace): Pace[] {
  const opened = places.move(attempt.countsAs, pace);
  attempt.countsAs = pace;
  return opened;
}

function boundsOf(
  most: Limits,
  of: readonly Pace[],
  taken: { places: Places; hosts: HostLimits; lanes: ReadonlyMap<string, Lane>; turnedSlow: ReadonlySet<string> },
): Omit<ClaimBounds, 'leaseSeconds'> {
  const { places, hosts, lanes, turnedSlow } = taken;
  const bounds = of.map((pace) => ({ pace, room: places.room(pace), perLane: places.laneLimit(pace) }));
  const open = bounds.filter((bound) => bound.room > 0);
  const claimed = [...lanes].filter(([, lane]) => open.some(({ pace }) => pace === lane.pace));
  return {
    room: places.left(),
    paces: open,
    inFlight: Object.fromEntries([
      ...claimed.map(([laneId, lane]) => [laneId, lane.places] as const),
      ...[...turnedSlow].map((laneId) => [laneId, most.lane] as const),
    ]),
    // A host with the attempts of at most one lane needs no entry.
    perHost: Math.max(1, most.host - most.lane),
    hosts: hosts.limited(most.lane),
  };
}

/** How long a host's lanes are put off at most: another process may reach a host that this one cannot. */
const LONGEST_PUT_OFF_SECONDS = 5;

type HostLimits = ReturnType<typeof createHostLimits>;

/**
 * Counts attempts in flight by host.
 * @param most the limit for each host.
 * @param hostCircuits lower limits for hosts that cannot be connected to.
 */
function createHostLimits(most: number, hostCircuits: HostCircuits) {
  const counts = new Map<string, number>();
  const room = (host: string): number => Math.min(most, hostCircuits.limit(host)) - (counts.get(host) ?? 0);
  return {
    room,
    /** What may be claimed for hosts with more than `count` attempts in flight, and for hosts whose circuit is not closed. */
    limited(count: number): ClaimBounds['hosts'] {
      const crowded = [...counts].filter((entry) => entry[1] > count).map(([host]) => host);
      const limitOf = (host: string) => ({
        room: Math.max(0, room(host)),
        pause_seconds: Math.min(LONGEST_PUT_OFF_SECONDS, hostCircuits.pauseMs(host) / 1000),
      });
      return Object.fromEntries(
        [...new Set([...crowded, ...hostCircuits.limited()])].map((host) => [host, limitOf(host)]),
      );
    },
    add: (host: string): void => void counts.set(host, (counts.get(host) ?? 0) + 1),
    /** Deletes an entry at zero, so that the map does not grow. */
    remove(host: string): void {
      const left = (counts.get(host) ?? 0) - 1;
      if (left > 0) counts.set(host, left);
      else counts.delete(host);
    },
  };
}

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

type Places = ReturnType<typeof createPlaces>;

/** Counts the taken places by pace, and calculates how many are left for each pace and lane. */
function createPlaces(most: Limits) {
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
