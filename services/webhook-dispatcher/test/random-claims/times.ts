import type { LaneBreaker } from '../../src/store/settle.ts';

/** Leases lapse, and lanes open again, several times in a run. */
export const LEASE_SECONDS = 0.6;
/** Shorter than a lease, so that a lane which still waits for one that has ended is seen. */
export const HOST_REST_SECONDS = 0.2;
export const LANE_REST_SECONDS = 0.3;
export const GIVE_UP_SECONDS = 1.5;

export const breaker: LaneBreaker = { closeAfter: 4, closeAfterSeconds: 0, longestCloseSeconds: 0.3, recoveredAt: 8 };
