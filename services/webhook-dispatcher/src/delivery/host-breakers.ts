import type { ErrorCategory } from '@quittance/contracts/webhook.ts';

/** Remembers which hosts cannot be connected to, so that the lanes which lead there are not tried one after the other. */
export type HostBreakers = {
  /** Says how an attempt to a host ended; null is a 2xx. */
  ended(host: string, errorCategory: ErrorCategory | null): void;
  /** Attempts that a host may get at once; Infinity unless it failed. */
  cap(host: string): number;
  /** Milliseconds for which a host gets none; 0 unless it is closed. */
  restMs(host: string): number;
  /** Hosts that get less than usual. */
  limited(): string[];
  /** How many get nothing, or one attempt now and then. */
  closedCount(): number;
};

/**
 * Only what says that no connection came about. Any answer, and even its absence over a connection that stands, may be about one
 * merchant's path, and one merchant must not close a host that others share.
 */
const connectFailures: readonly ErrorCategory[] = [
  'dns_error',
  'connect_refused',
  'connect_timeout',
  'network_unreachable',
  'tls_error',
];
/** Say nothing about whether the host can be connected to. */
const neutral: readonly ErrorCategory[] = ['blocked_address', 'interrupted'];

/** So many failures in a row, over at least so long: a receiver's restart takes less. */
const CLOSE_AFTER = 20;
const CLOSE_AFTER_MS = 5_000;
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
/** Attempts at once when a host is tried again; it doubles with every attempt that connects. */
const FIRST_CAP = 1;
/** A host of which nothing was heard for so long starts afresh. */
const FORGET_MS = 600_000;

type State = {
  failures: number;
  failingSinceMs: number;
  heardMs: number;
  /** Zero while it has never been closed. */
  restMs: number;
  restsUntilMs: number;
  cap: number;
};

/**
 * The breakers of one process, which may be the only one whose way out is broken: what it has learnt stays in its memory.
 * @param options.recoveredAt attempts at once from which on a host counts as recovered.
 * @param options.nowMs a clock that never steps.
 */
export function createHostBreakers(options: { recoveredAt: number; nowMs?: () => number }): HostBreakers {
  const { recoveredAt, nowMs = () => performance.now() } = options;
  const states = new Map<string, State>();
  let sweptMs = nowMs();

  function failed(host: string): void {
    const now = nowMs();
    const state = states.get(host) ?? {
      ...{ failures: 0, failingSinceMs: now, heardMs: now, restMs: 0, restsUntilMs: 0, cap: Infinity },
    };
    states.set(host, state);
    state.failures += 1;
    state.heardMs = now;
    const isTried = state.cap !== Infinity && now >= state.restsUntilMs;
    const isToClose = state.failures >= CLOSE_AFTER && now - state.failingSinceMs >= CLOSE_AFTER_MS;
    if (isTried || (state.cap === Infinity && isToClose)) {
      state.restMs = Math.min(LONGEST_REST_MS, state.restMs === 0 ? FIRST_REST_MS : 2 * state.restMs);
      state.restsUntilMs = now + state.restMs;
      state.cap = FIRST_CAP;
    }
    sweep(now);
  }

  function connected(host: string): void {
    const state = states.get(host);
    if (state === undefined) return;
    if (state.cap * 2 >= recoveredAt) states.delete(host);
    else Object.assign(state, { cap: state.cap * 2, failures: 0, restsUntilMs: 0, heardMs: nowMs() });
  }

  /** Hosts that failed now and then and were left alone since. */
  function sweep(now: number): void {
    if (now - sweptMs < FORGET_MS) return;
    sweptMs = now;
    for (const [host, { heardMs }] of states) if (now - heardMs >= FORGET_MS) states.delete(host);
  }

  const restMs = (host: string): number => Math.max(0, (states.get(host)?.restsUntilMs ?? 0) - nowMs());
  const limited = (): string[] => [...states].filter(([, { cap }]) => cap !== Infinity).map(([host]) => host);
  return {
    ended(host, errorCategory) {
      if (errorCategory !== null && neutral.includes(errorCategory)) return;
      if (errorCategory !== null && connectFailures.includes(errorCategory)) failed(host);
      else connected(host);
    },
    cap: (host) => states.get(host)?.cap ?? Infinity,
    restMs,
    limited,
    closedCount: () => [...states.values()].filter(({ cap, failures }) => cap !== Infinity && failures > 0).length,
  };
}
