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
  /** It could not have had another place, so that something of it may be waiting for one. */
  isFull: boolean;
};

/** `countsAs`: of which pace it takes a place. */
type Running = { startedMs: number; countsAs: Pace };

/** The place of one attempt. */
export type Place = {
  /** Called when the attempt has ended; the place stays taken until its outcome is stored. @returns its lane's pace by now. */
  ended(): Pace;
  /** @returns whether one of its limits was reached, so that something may be waiting for this place. */
  release(): boolean;
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
  /** Lanes that have become slow since they were last asked for. */
  const turnedSlow: string[] = [];
  const isOlder = (attempt: Running | undefined, ms: number): boolean =>
    attempt !== undefined && nowMs() - attempt.startedMs > ms;

  /** An attempt is slow, and makes its lane slow, before it has ended. */
  function findSlow(): void {
    for (const [merchantId, lane] of lanes) {
      for (const attempt of lane.running) if (isOlder(attempt, most.slowAttemptMs)) count(places, attempt, 'slow');
      if (lane.pace === 'slow' || !isOlder(lane.running[0], most.slowLaneMs)) continue;
      lane.pace = 'slow';
      turnedSlow.push(merchantId);
    }
  }

  function ended(lane: Lane, attempt: Running): Pace {
    lane.running.splice(lane.running.indexOf(attempt), 1);
    lane.pace = [attempt, lane.running[0]].some((one) => isOlder(one, most.slowLaneMs)) ? 'slow' : 'quick';
    if (count(places, attempt, lane.pace)) lane.isFull = true;
    return lane.pace;
  }

  function release(lane: Lane, attempt: Running, { merchantId, host }: { merchantId: string; host: string }): boolean {
    const wasFull = lane.isFull || hosts.room(host) <= 0;
    lane.isFull = false;
    lane.places -= 1;
    if (lane.places === 0) lanes.delete(merchantId);
    hosts.remove(host);
    return places.move(attempt.countsAs, null) || wasFull;
  }

  return {
    /** What may be claimed now. */
    claimBounds(): Omit<ClaimBounds, 'leaseSeconds'> {
      findSlow();
      return boundsOf(most, { places, hosts, lanes });
    },
    /** Lanes that have become slow since the last call, by an attempt that has not ended. */
    takeTurnedSlow(): string[] {
      findSlow();
      return turnedSlow.splice(0);
    },
    /** @returns null when one of the limits is reached. */
    acquire({ merchant_id: merchantId, host, pace }: AttemptTarget): Place | null {
      const lane = lanes.get(merchantId) ?? { pace, places: 0, running: [], isFull: false };
      if (lane.pace === 'new') lane.pace = pace;
      if (places.room(lane.pace) <= 0 || lane.places >= most.lane || hosts.room(host) <= 0) return null;
      const attempt: Running = { startedMs: nowMs(), countsAs: lane.pace };
      lanes.set(merchantId, lane);
      lane.places += 1;
      lane.running.push(attempt);
      places.move(null, attempt.countsAs);
      hosts.add(host);
      lane.isFull ||= lane.places >= places.laneLimit(lane.pace);
      return { ended: () => ended(lane, attempt), release: () => release(lane, attempt, { merchantId, host }) };
    },
    /** Attempts in flight, by the pace that they count as. */
    counts: (): Readonly<Record<Pace, number>> => places.taken,
  };
}

/** @returns whether a pace without room has some now. */
function count(places: Places, attempt: Running, pace: Pace): boolean {
  const opens = places.move(attempt.countsAs, pace);
  attempt.countsAs = pace;
  return opens;
}

function boundsOf(
  most: Limits,
  { places, hosts, lanes }: { places: Places; hosts: HostLimits; lanes: ReadonlyMap<string, Lane> },
): Omit<ClaimBounds, 'leaseSeconds'> {
  const bounds = paces.map((pace) => ({ pace, room: places.room(pace), perLane: places.laneLimit(pace) }));
  const open = bounds.filter((bound) => bound.room > 0);
  const claimed = [...lanes].filter(([, lane]) => open.some(({ pace }) => pace === lane.pace));
  return {
    room: places.left(),
    paces: open,
    inFlight: Object.fromEntries(claimed.map(([merchantId, lane]) => [merchantId, lane.places])),
    // A host with no more than one lane's attempts needs no entry of its own.
    perHost: Math.max(1, most.host - most.lane),
    hosts: hosts.limited(most.lane),
  };
}
