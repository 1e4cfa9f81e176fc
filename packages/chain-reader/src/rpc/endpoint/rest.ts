import type { RpcError } from '../errors.ts';

/** The time in which an endpoint that refused us is left alone. Being asked too often does not make it a broken one. */
export type Rest = {
  /** Milliseconds until it may be asked again; 0 when it may be now. */
  leftMs(): number;
  /** Begins or changes a rest, if this error asks for one. @returns whether it did. */
  after(error: RpcError): boolean;
  /** It answered. */
  answered(): void;
};

const FIRST_REST_MS = 500;
/** Where the endpoint does not say how long, it is tried again about this often, however long it refuses. */
const MAX_GUESSED_REST_MS = 30_000;
/** However long it says. */
const MAX_TOLD_REST_MS = 300_000;

/** @param now monotonic milliseconds. @param random from 0 to 1. */
export function createRest({
  now = () => performance.now(),
  random = Math.random,
}: { now?: () => number; random?: () => number } = {}): Rest {
  let until = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  const leftMs = () => Math.max(0, until - now());
  return {
    leftMs,
    after({ kind, retryAfterMs }) {
      if (retryAfterMs !== null) {
        until = now() + Math.min(retryAfterMs, MAX_TOLD_REST_MS);
        return true;
      }
      // Several refusals of requests that were under way together are one.
      if (kind !== 'rate_limit' || leftMs() > 0) return false;
      const stepMs = Math.min(MAX_GUESSED_REST_MS, FIRST_REST_MS * 2 ** Math.min(refusals, 20));
      refusals += 1;
      until = now() + stepMs / 2 + (stepMs / 2) * random();
      return true;
    },
    answered() {
      if (leftMs() === 0) refusals = 0;
    },
  };
}
