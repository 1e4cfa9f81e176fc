import type { ClaimBounds } from '../store/claim.ts';
import { paces, type Pace } from '../state.ts';
import type { HostCircuits } from './host-circuits.ts';

/** Which queue and which receiver an attempt belongs to, and how soon the lane's attempts ended lately. */
type AttemptTarget = { merchant_id: string; host: string; pace: Pace };

/** How many attempts may be in flight at once in this process. */
export type Limits = {
  /** Of one merchant. */
  lane: number;
  /** Towards one host. */
  host: number;
  /** In all. Lanes that are neither slow nor new can use all of it. */
  process: number;
  /** Of all lanes of which no attempt has ended yet; each has one. */
  new: number;
  /** Of all slow lanes, with the attempts of others that take long. */
  slow: number;
  /** Of slow and new lanes together. */
  unproven: number;
  /** An attempt that takes longer counts as a slow one, so that new receivers that hang make room for the next. */
  slowAttemptMs: number;
  /** One that takes longer makes its lane slow. A machine that is busy for a moment must not do that to everybody. */
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
  new: 128,
  slow: 384,
  unproven: 1_024,
  slowAttemptMs: 1_000,
  slowLaneMs: 5_000,
};

/** Another process may reach a host that this one cannot, so the host's lanes are put off for no longer than this at a time. */
const LONGEST_PUT_OFF_SECONDS = 5;

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
 * @param hostCircuits lower the limit of hosts that cannot be connected to.
 * @param nowMs a monotonic clock.
 */
export function createInFlightLimits(
  most: Limits,
  hostCircuits: HostCircuits,
  nowMs: () => number = () => performance.now(),
) {
  const lanes = new Map<string, Lane>();
  const byHost = new Map<string, number>();
  const byPace: Record<Pace, number> = { quick: 0, new: 0, slow: 0 };
  /** Lanes that have become slow since they were last asked for. */
  let turnedSlow: string[] = [];

  const total = (): number => paces.reduce((sum, pace) => sum + byPace[pace], 0);
  const hostLimit = (host: string): number => Math.min(most.host, hostCircuits.limit(host));
  const hostRoom = (host: string): number => hostLimit(host) - (byHost.get(host) ?? 0);

  /** Places that a pace has left. */
  function room(pace: Pace): number {
    const left = most.process - total();
    if (pace === 'quick') return left;
    return Math.min(left, most[pace] - byPace[pace], most.unproven - byPace.new - byPace.slow);
  }

  /** What one lane may have: less, the fewer places are left, so that lanes which all turn slow at once do not fill the process. */
  function laneLimit(pace: Pace): number {
    if (pace === 'new') return 1;
    const free = pace === 'slow' ? 1 - byPace.slow / most.slow : freeForQuick();
    return Math.max(1, Math.min(most.lane, Math.floor(most.lane * free)));
  }

  const freeForQuick = (): number =>
    Math.min((most.process - total()) / (most.process - most.unproven), 1 - (2 * byPace.quick) / most.process);

  /** Runs a change. @returns whether a pace that had no place left has one now. */
  function opensRoom(change: () => void): boolean {
    const full = paces.filter((pace) => room(pace) <= 0);
    change();
    return full.some((pace) => room(pace) > 0);
  }

  function count(attempt: Running, pace: Pace): void {
    byPace[attempt.countsAs] -= 1;
    byPace[pace] += 1;
    attempt.countsAs = pace;
  }

  const isSlow = ({ running: [oldest] }: Lane): boolean =>
    oldest !== undefined && nowMs() - oldest.startedMs > most.slowLaneMs;

  /** An attempt is slow, and makes its lane slow, before it has ended. */
  function findSlow(): void {
    const slowBefore = nowMs() - most.slowAttemptMs;
    for (const [merchantId, lane] of lanes) {
      for (const attempt of lane.running) if (attempt.startedMs < slowBefore) count(attempt, 'slow');
      if (lane.pace === 'slow' || !isSlow(lane)) continue;
      lane.pace = 'slow';
      turnedSlow.push(merchantId);
    }
  }

  /** Hosts that may get fewer attempts than `perHost` below. */
  function limitedHosts(): ClaimBounds['hosts'] {
    const crowded = [...byHost].filter(([, count]) => count > most.lane).map(([host]) => host);
    const limitOf = (host: string) => ({
      room: Math.max(0, hostRoom(host)),
      pause_seconds: Math.min(LONGEST_PUT_OFF_SECONDS, hostCircuits.pauseMs(host) / 1000),
    });
    return Object.fromEntries(
      [...new Set([...crowded, ...hostCircuits.limited()])].map((host) => [host, limitOf(host)]),
    );
  }

  return {
    /** What may be claimed now. */
    claimBounds(): Omit<ClaimBounds, 'leaseSeconds'> {
      findSlow();
      const bounds = paces.map((pace) => ({ pace, room: Math.max(0, room(pace)), perLane: laneLimit(pace) }));
      const open = bounds.filter((bound) => bound.room > 0);
      const isOpen = (pace: Pace): boolean => open.some((bound) => bound.pace === pace);
      return {
        room: most.process - total(),
        paces: open,
        inFlight: Object.fromEntries(
          [...lanes].filter(([, { pace }]) => isOpen(pace)).map(([merchantId, { places }]) => [merchantId, places]),
        ),
        // A host with no more than one lane's attempts needs no entry of its own.
        perHost: Math.max(1, most.host - most.lane),
        hosts: limitedHosts(),
      };
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
      if (room(lane.pace) <= 0 || lane.places >= most.lane || hostRoom(host) <= 0) return null;
      const attempt: Running = { startedMs: nowMs(), countsAs: lane.pace };
      lanes.set(merchantId, lane);
      lane.places += 1;
      lane.running.push(attempt);
      byPace[attempt.countsAs] += 1;
      addOne(byHost, host, 1);
      lane.isFull ||= lane.places >= laneLimit(lane.pace);
      return {
        ended() {
          lane.running.splice(lane.running.indexOf(attempt), 1);
          lane.pace = nowMs() - attempt.startedMs > most.slowLaneMs || isSlow(lane) ? 'slow' : 'quick';
          const opened = opensRoom(() => count(attempt, lane.pace));
          lane.isFull ||= opened;
          return lane.pace;
        },
        release() {
          const wasFull = lane.isFull || hostRoom(host) <= 0;
          lane.isFull = false;
          lane.places -= 1;
          const opened = opensRoom(() => (byPace[attempt.countsAs] -= 1));
          addOne(byHost, host, -1);
          if (lane.places === 0) lanes.delete(merchantId);
          return wasFull || opened;
        },
      };
    },
    /** Attempts in flight, by the pace that they count as. */
    counts: (): Readonly<Record<Pace, number>> => byPace,
  };
}

/** Removes an entry at zero, so that the map holds only what is in flight. */
function addOne(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
