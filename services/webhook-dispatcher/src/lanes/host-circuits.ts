import type { ErrorCategory } from '@quittance/contracts/webhook.ts';

/**
 * Only failures to connect. Any answer, or none on an established connection, may be about one merchant's path, and one merchant must not
 * open the circuit of a host that others share.
 */
const connectFailures: readonly ErrorCategory[] = [
  'dns_error',
  'connect_refused',
  'connect_timeout',
  'network_unreachable',
  'tls_error',
];
/** These do not show whether the host can be connected to. */
const neutral: readonly ErrorCategory[] = ['blocked_address', 'interrupted'];

/** A circuit opens after this many failures in a row over at least this time: a receiver's restart causes fewer. */
const OPEN_AFTER = 20;
const OPEN_AFTER_MS = 5_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A half-open circuit lets one probe through. The limit doubles with every attempt that connects. */
const PROBE_LIMIT = 1;
/** A host without an attempt for this long is forgotten. */
const FORGET_MS = 600_000;

type Circuit = {
  failures: number;
  failingSinceMs: number;
  lastAttemptMs: number;
  /** Zero until it first opens. */
  pauseMs: number;
  openUntilMs: number;
  limit: number;
};

export type HostCircuits = ReturnType<typeof createHostCircuits>;

/**
 * Circuits of hosts that cannot be connected to, so that their lanes are not attempted one after the other. They are in memory, because this
 * process may be the only one whose network fails.
 * @param options.recoveredAt the limit of attempts in flight at which a recovering host counts as healthy.
 * @param options.nowMs a monotonic clock.
 */
export function createHostCircuits(options: { recoveredAt: number; nowMs?: () => number }) {
  const { recoveredAt, nowMs = () => performance.now() } = options;
  const circuits = new Map<string, Circuit>();
  let sweptMs = nowMs();

  function failed(host: string): void {
    const now = nowMs();
    const circuit = circuits.get(host) ?? {
      failures: 0,
      failingSinceMs: now,
      lastAttemptMs: now,
      pauseMs: 0,
      openUntilMs: 0,
      limit: Infinity,
    };
    circuits.set(host, circuit);
    circuit.failures += 1;
    circuit.lastAttemptMs = now;
    const isClosed = circuit.limit === Infinity;
    const opens = isClosed
      ? circuit.failures >= OPEN_AFTER && now - circuit.failingSinceMs >= OPEN_AFTER_MS
      : now >= circuit.openUntilMs;
    if (opens) {
      circuit.pauseMs = Math.min(LONGEST_PAUSE_MS, circuit.pauseMs === 0 ? FIRST_PAUSE_MS : 2 * circuit.pauseMs);
      circuit.openUntilMs = now + circuit.pauseMs;
      circuit.limit = PROBE_LIMIT;
    }
    sweep(now);
  }

  function connected(host: string): void {
    const circuit = circuits.get(host);
    if (circuit === undefined) return;
    if (circuit.limit * 2 >= recoveredAt) circuits.delete(host);
    else Object.assign(circuit, { limit: circuit.limit * 2, failures: 0, openUntilMs: 0, lastAttemptMs: nowMs() });
  }

  /** Forgets hosts without a recent attempt. */
  function sweep(now: number): void {
    if (now - sweptMs < FORGET_MS) return;
    sweptMs = now;
    for (const [host, { lastAttemptMs }] of circuits) if (now - lastAttemptMs >= FORGET_MS) circuits.delete(host);
  }

  return {
    /** Records how an attempt at a host ended; null is a 2xx. */
    record(host: string, errorCategory: ErrorCategory | null): void {
      if (errorCategory !== null && neutral.includes(errorCategory)) return;
      if (errorCategory !== null && connectFailures.includes(errorCategory)) failed(host);
      else connected(host);
    },
    /** Attempts that a host may have in flight; Infinity while its circuit is closed. */
    limit: (host: string): number => circuits.get(host)?.limit ?? Infinity,
    /** Milliseconds until an open circuit may be probed, else 0. */
    pauseMs: (host: string): number => Math.max(0, (circuits.get(host)?.openUntilMs ?? 0) - nowMs()),
    /** Hosts whose circuit is not closed. */
    limited: (): string[] => [...circuits].filter(([, { limit }]) => limit !== Infinity).map(([host]) => host),
    /** Hosts whose circuit is open or half-open. */
    openCount: (): number =>
      [...circuits.values()].filter(({ limit, failures }) => limit !== Infinity && failures > 0).length,
  };
}
