import type { ClaimBounds } from '../store/claim.ts';
import { paces, type Pace } from '../state.ts';
import type { HostCircuits } from './host-circuits.ts';
import { createHostLimits, type HostLimits } from './host-limits.ts';
import { createPlaces, type Limits, type Places } from './places.ts';

/** Which queue and which receiver an attempt belongs to, and how soon the lane's attempts ended lately. */
type AttemptTarget = { merchant_id: string; host: string; pace: Pace };

/** A lane with attempts in flight. */
type Lane = {
  pace: Pace;
  places: number;
  /** Its attempts that have not ended yet, the oldest first. */
  running: Running[];
  /** Paces of which something may be waiting for a place that this lane has. */
  waiting: Set<Pace>;
};

/** `countsAs`: of which pace it takes a place. */
type Running = { startedMs: number; countsAs: Pace };

/** The place of one attempt. */
export type Place = {
  /**
   * Called when the attempt has ended; the place stays taken until its outcome is stored.
   * @param isComplete whether an answer came to its end. Without one a second makes its lane slow, because the time limits for names,
   * connections and bodies are shorter than what makes others slow.
   * @returns its lane's pace by now.
   */
  ended(isComplete: boolean): Pace;
  /** @returns the paces of which something may be waiting for this place, because one of its limits was reached. */
  release(): ReadonlySet<Pace>;
};

export type InFlightLimits = ReturnType<typeof createInFlightLimits>;

/**
 * The bulkheads of this process: a slow receiver fills its own lane, all slow receivers together fill their share, and the others always
 * find a place.
 * @param nowMs a monotonic clock. One that stands still with the process, so that a frozen process does not find every receiver slow.
 */
export function createInFlightLimits(most: Limits, hostCircuits: HostCircuits, nowMs: () => number) {
  const places = createPlaces(most);
  const hosts = createHostLimits(most.host, hostCircuits);
  const lanes = new Map<string, Lane>();
  /** Lanes that have become slow here, and of which the database does not know it yet. */
  const turnedSlow = new Set<string>();
  const isOlder = (attempt: Running | undefined, ms: number): boolean =>
    attempt !== undefined && nowMs() - attempt.startedMs > ms;

  /** An attempt is slow, and makes its lane slow, before it has ended. */
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
    // What waited in this lane has its pace of now.
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
    /** What may be claimed now of these paces. */
    claimBounds(of: readonly Pace[] = paces): Omit<ClaimBounds, 'leaseSeconds'> {
      findSlow();
      return boundsOf(most, of, { places, hosts, lanes, turnedSlow });
    },
    /** Lanes that have become slow, by an attempt that has not ended, until they are marked. No claim gets anything of them meanwhile. */
    turnedSlow(): string[] {
      findSlow();
      return [...turnedSlow];
    },
    markedSlow(merchantIds: readonly string[]): void {
      for (const merchantId of merchantIds) turnedSlow.delete(merchantId);
    },
    /** @returns null when one of the limits is reached. */
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
    /** Attempts in flight, by the pace that they count as. */
    counts: (): Readonly<Record<Pace, number>> => places.taken,
  };
}

/** @returns the paces that had no room and have some now. */
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
    // A host with no more than one lane's attempts needs no entry of its own.
    perHost: Math.max(1, most.host - most.lane),
    hosts: hosts.limited(most.lane),
  };
}
