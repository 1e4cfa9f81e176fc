import type { ClaimBounds } from './claim.sql.ts';
import { paces, type Pace } from '../state.ts';
import type { HostCircuits } from './host-circuits.ts';
import { createPlaces, type Limits, type Places } from './places.ts';

/** An attempt's lane and host, and how fast the lane's attempts ended recently. */
type AttemptTarget = { merchant_id: string; host: string; pace: Pace };

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
    for (const [merchantId, lane] of lanes) {
      for (const attempt of lane.running) if (isOlder(attempt, most.slowAttemptMs)) count(places, attempt, 'slow');
      if (lane.pace === 'slow' || !isOlder(lane.running[0], most.slowLaneMs)) continue;
      lane.pace = 'slow';
      turnedSlow.add(merchantId);
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

  function release(lane: Lane, attempt: Running, { merchant_id: merchantId, host }: AttemptTarget): ReadonlySet<Pace> {
    const freed = [...lane.waiting, ...(hosts.room(host) <= 0 ? paces : [])];
    lane.waiting.clear();
    lane.places -= 1;
    if (lane.places === 0) lanes.delete(merchantId);
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
    markedSlow(merchantIds: readonly string[]): void {
      for (const merchantId of merchantIds) turnedSlow.delete(merchantId);
    },
    /** @returns null if a limit is reached. */
    acquire(target: AttemptTarget): Place | null {
      const { merchant_id: merchantId, host, pace } = target;
      const lane = lanes.get(merchantId) ?? { pace, places: 0, running: [], waiting: new Set() };
      if (lane.pace === 'new') lane.pace = pace;
      if (places.room(lane.pace) <= 0 || lane.places >= most.lane || hosts.room(host) <= 0) return null;
      const attempt: Running = { startedMs: nowMs(), countsAs: lane.pace };
      lanes.set(merchantId, lane);
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
      ...claimed.map(([merchantId, lane]) => [merchantId, lane.places] as const),
      ...[...turnedSlow].map((merchantId) => [merchantId, most.lane] as const),
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
