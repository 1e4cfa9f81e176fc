import type { HostBreakers } from './host-breakers.ts';
import type { ClaimBounds } from './store/claim.ts';

/** Which queue and which receiver an attempt belongs to. */
type LanePlace = { merchant_id: string; host: string };

/** How many attempts may be in flight at once: of one merchant, towards one host, in this process. */
export type LaneBounds = { lane: number; host: number; process: number };

/** What is in flight in this process, so that one slow receiver holds its own lane and not the others. */
export type Lanes = {
  /** What may be claimed now. */
  claimBounds(): Omit<ClaimBounds, 'leaseSeconds'>;
  /** Takes a place, or answers false when one of the bounds is reached. */
  enter(place: LanePlace): boolean;
  /** Gives the place back. @returns whether one of its bounds was reached, so that something may be waiting for this place. */
  leave(place: LanePlace): boolean;
};

/**
 * A host that this process cannot reach may be within another one's reach: its lanes are put off for no longer than this at a time.
 */
const LONGEST_PUT_OFF_SECONDS = 5;

/** @param breakers lower the bound of hosts that cannot be connected to. */
export function createLanes(bounds: LaneBounds, breakers: HostBreakers): Lanes {
  const byMerchant = new Map<string, number>();
  const byHost = new Map<string, number>();
  let total = 0;

  const hostBound = (host: string): number => Math.min(bounds.host, breakers.cap(host));
  const isFull = ({ merchant_id: merchantId, host }: LanePlace): boolean =>
    total >= bounds.process ||
    (byMerchant.get(merchantId) ?? 0) >= bounds.lane ||
    (byHost.get(host) ?? 0) >= hostBound(host);

  function change({ merchant_id: merchantId, host }: LanePlace, by: 1 | -1): void {
    total += by;
    add(byMerchant, merchantId, by);
    add(byHost, host, by);
  }

  function limitedHosts(): ClaimBounds['hosts'] {
    const names = new Set([...byHost.keys(), ...breakers.limited()]);
    const limit = (host: string) => ({
      room: Math.max(0, hostBound(host) - (byHost.get(host) ?? 0)),
      rest: Math.min(LONGEST_PUT_OFF_SECONDS, breakers.restMs(host) / 1000),
    });
    return Object.fromEntries([...names].map((host) => [host, limit(host)]));
  }

  return {
    claimBounds: () => ({
      room: bounds.process - total,
      perLane: bounds.lane,
      inFlight: Object.fromEntries(byMerchant),
      perHost: bounds.host,
      hosts: limitedHosts(),
    }),
    enter(place) {
      if (isFull(place)) return false;
      change(place, 1);
      return true;
    },
    leave(place) {
      const wasFull = isFull(place);
      change(place, -1);
      return wasFull;
    },
  };
}

/** Empty entries are dropped, so that the maps never grow beyond what is in flight. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
