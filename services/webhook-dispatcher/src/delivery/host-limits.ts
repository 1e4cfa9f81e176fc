import type { ClaimBounds } from '../store/claim.ts';
import type { HostCircuits } from './host-circuits.ts';

/** Another process may reach a host that this one cannot, so the host's lanes are put off for no longer than this at a time. */
const LONGEST_PUT_OFF_SECONDS = 5;

export type HostLimits = ReturnType<typeof createHostLimits>;

/**
 * Counts attempts in flight by host.
 * @param most attempts that one host may have.
 * @param hostCircuits lower that for hosts that cannot be connected to.
 */
export function createHostLimits(most: number, hostCircuits: HostCircuits) {
  const counts = new Map<string, number>();
  const room = (host: string): number => Math.min(most, hostCircuits.limit(host)) - (counts.get(host) ?? 0);
  return {
    room,
    /** What may be claimed for hosts with more than `count` attempts in flight, and for those with a circuit that is not closed. */
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
    /** Removes an entry at zero, so that the map holds only what is in flight. */
    remove(host: string): void {
      const left = (counts.get(host) ?? 0) - 1;
      if (left > 0) counts.set(host, left);
      else counts.delete(host);
    },
  };
}
