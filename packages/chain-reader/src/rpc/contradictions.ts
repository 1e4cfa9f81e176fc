import type { RpcError, RpcErrorKind } from './errors.ts';

/** Errors by which a node contradicts itself, or us about the chain. */
const CONTRADICTIONS: readonly RpcErrorKind[] = ['invalid_answer', 'wrong_chain'];
/** A load balancer with a late node behind it causes one now and then, but not so many in this time. */
const TOO_MANY = 3;
const MAX_AGE_MS = 600_000;

/**
 * Counts how often a node contradicts itself.
 * @param onTooMany called with the last contradiction, when there were several in ten minutes.
 */
export function createContradictions(onTooMany: (what: string) => void) {
  /** Monotonic milliseconds. */
  let times: number[] = [];
  return {
    /** Does nothing for other errors. */
    note({ kind, message }: RpcError): void {
      if (!CONTRADICTIONS.includes(kind)) return;
      const now = performance.now();
      times = [...times.filter((at) => now - at < MAX_AGE_MS), now].slice(-TOO_MANY);
      if (times.length === TOO_MANY) onTooMany(message);
    },
  };
}
