import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

/**
 * How far the clock of chain-watcher's database is ahead of ours for certain, in milliseconds, or behind for a negative number; 0 where both
 * are on one server.
 */
export type ClockDifference = { ms: number };

/** A first reading, which chain-watcher tells by its clock, by ours: payments are created by ours. */
export const byOurClock = (message: TransferObserved, { ms }: ClockDifference): TransferObserved =>
  ms === 0 || message.first_seen_at === undefined
    ? message
    : { ...message, first_seen_at: rfc3339(new Date(Date.parse(message.first_seen_at) - ms)) };

/** A span of ours that is wide enough by chain-watcher's clock, too. What it finds is decided about by ours. */
export const widened = ({ from, to }: { from: Date; to: Date }, { ms }: ClockDifference) => ({
  from: rfc3339(new Date(from.getTime() - Math.abs(ms))),
  to: rfc3339(new Date(to.getTime() + Math.abs(ms))),
});
