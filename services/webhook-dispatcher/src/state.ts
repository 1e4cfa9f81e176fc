import type { DeliveryStatus } from '@quittance/contracts/webhook.ts';

/**
 * The whole state machine of a delivery: from each status, what it may become.
 * `failed` becomes `delivered` when a 2xx of an attempt that was given up for lost is settled late: a success is a fact.
 */
const transitions = {
  pending: ['delivered', 'failed'],
  failed: ['pending', 'delivered'],
  delivered: [],
} as const satisfies Record<DeliveryStatus, readonly DeliveryStatus[]>;

/** The statuses that may become this one: the guard of the statement that makes the change. */
export function statusesBefore(after: DeliveryStatus): DeliveryStatus[] {
  const all = Object.keys(transitions) as DeliveryStatus[];
  return all.filter((status) => (transitions[status] as readonly DeliveryStatus[]).includes(after));
}

/** How soon a lane's attempts end: column `pace` of `lane`. */
export const paces = ['quick', 'new', 'slow'] as const;
export type Pace = (typeof paces)[number];
