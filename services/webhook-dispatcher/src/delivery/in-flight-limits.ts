import type { ClaimBounds } from '../store/claim.ts';
import type { HostCircuits } from './host-circuits.ts';

/** Which queue and which receiver an attempt belongs to. */
type AttemptTarget = { merchant_id: string; host: string };

/** How many attempts may be in flight at once: of one merchant, towards one host, in this process. */
export type Limits = { lane: number; host: number; process: number };

/**
 * A slow receiver fills its own lane, a popular host its own share, and neither the process. At full load about half of the attempts
 * in flight have ended and wait for their outcomes to be stored.
 */
export const limits: Limits = { lane: 8, host: 64, process: 1_024 };

/** Another process may reach a host that this one cannot, so the host's lanes are put off for no longer than this at a time. */
const LONGEST_PUT_OFF_SECONDS = 5;

export type InFlightLimits = ReturnType<typeof createInFlightLimits>;

/**
 * The bulkheads of this process: a slow receiver fills its own lane and not the others.
 * @param hostCircuits lower the limit of hosts that cannot be connected to.
 */
export function createInFlightLimits(most: Limits, hostCircuits: HostCircuits) {
  const byMerchant = new Map<string, number>();
  const byHost = new Map<string, number>();
  let total = 0;

  const hostLimit = (host: string): number => Math.min(most.host, hostCircuits.limit(host));
  const isFull = ({ merchant_id: merchantId, host }: AttemptTarget): boolean =>
    total >= most.process ||
    (byMerchant.get(merchantId) ?? 0) >= most.lane ||
    (byHost.get(host) ?? 0) >= hostLimit(host);

  function change({ merchant_id: merchantId, host }: AttemptTarget, by: 1 | -1): void {
    total += by;
    add(byMerchant, merchantId, by);
    add(byHost, host, by);
  }

  function limitedHosts(): ClaimBounds['hosts'] {
    const names = new Set([...byHost.keys(), ...hostCircuits.limited()]);
    const limitOf = (host: string) => ({
      room: Math.max(0, hostLimit(host) - (byHost.get(host) ?? 0)),
      pause_seconds: Math.min(LONGEST_PUT_OFF_SECONDS, hostCircuits.pauseMs(host) / 1000),
    });
    return Object.fromEntries([...names].map((host) => [host, limitOf(host)]));
  }

  return {
    /** What may be claimed now. */
    claimBounds: (): Omit<ClaimBounds, 'leaseSeconds'> => ({
      room: most.process - total,
      perLane: most.lane,
      inFlight: Object.fromEntries(byMerchant),
      perHost: most.host,
      hosts: limitedHosts(),
    }),
    /** @returns false when one of the limits is reached. */
    acquire(target: AttemptTarget): boolean {
      if (isFull(target)) return false;
      change(target, 1);
      return true;
    },
    /** @returns whether one of its limits was reached, so that something may be waiting for this place. */
    release(target: AttemptTarget): boolean {
      const wasFull = isFull(target);
      change(target, -1);
      return wasFull;
    },
  };
}

/** Removes entries at zero, so that the maps hold only what is in flight. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
