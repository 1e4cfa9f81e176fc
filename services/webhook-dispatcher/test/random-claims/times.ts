import type { CircuitPolicy } from '../../src/lanes/claim.sql.ts';

/** Leases expire, and circuits open and close, several times in a run. */
export const LEASE_SECONDS = 0.6;
/** Shorter than a lease, so that a lane that still waits for an expired one is noticed. */
export const HOST_PAUSE_SECONDS = 0.2;
export const LANE_PAUSE_SECONDS = 0.3;
export const GIVE_UP_SECONDS = 1.5;

export const policy: CircuitPolicy = { openAfter: 4, openAfterSeconds: 0, longestOpenSeconds: 0.3, recoveredAt: 8 };
