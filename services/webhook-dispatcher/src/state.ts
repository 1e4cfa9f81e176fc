import type { DeliveryStatus } from '@quittance/contracts/webhook.ts';

/**
 * The whole state machine of a delivery: the statuses that each status may become.
 * `failed` becomes `delivered` when a 2xx is settled after the event had been given up.
 */
const transitions = {
  pending: ['delivered', 'failed'],
  failed: ['pending', 'delivered'],
  delivered: [],
} as const satisfies Record<DeliveryStatus, readonly DeliveryStatus[]>;

/** The statuses that may become this one, for the guard of the statement that changes it. */
export function statusesBefore(after: DeliveryStatus): DeliveryStatus[] {
  const all = Object.keys(transitions) as DeliveryStatus[];
  return all.filter((status) => (transitions[status] as readonly DeliveryStatus[]).includes(after));
}

/** How fast a lane's attempts end: column `pace` of `lane`. */
export const paces = ['quick', 'new', 'slow'] as const;
export type Pace = (typeof paces)[number];
