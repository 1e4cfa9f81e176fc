import type { CircuitPolicy } from '../store/settle.ts';
import { limits } from './places.ts';

/**
 * When a lane's circuit opens: a receiver's restart, or a single bad event, fails less often than this. Its states are columns of
 * `lane`, and settle_attempts() moves them.
 */
export const laneCircuitPolicy: CircuitPolicy = {
  openAfter: 50,
  openAfterSeconds: 10,
  longestOpenSeconds: 60,
  recoveredAt: limits.lane,
};
