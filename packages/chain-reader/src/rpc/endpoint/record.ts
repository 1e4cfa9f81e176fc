import { rfc3339 } from '@quittance/runtime/time.ts';
import type { Head } from './heads.ts';
import type { EndpointMetrics } from './metrics.ts';
import type { RpcError, RpcErrorKind } from '../errors.ts';

/** What an endpoint has shown of itself so far, in the words of the internal API. */
export type EndpointFacts = {
  /** Height of the block that it last named its head. */
  head: number | null;
  /** Of the last 64 exchanges that were answered or timed out. */
  latency_ms: { p50: number; p95: number } | null;
  /** Calls so far; a batch counts as many as it holds. */
  requests: number;
  /** Failed reads so far by cause. */
  failures: Partial<Record<RpcErrorKind, number>>;
  last_error: string | null;
  last_error_at: string | null;
};

export type EndpointRecord = {
  exchanged(outcome: 'ok' | RpcErrorKind, durationSeconds: number, calls: number): void;
  failed(error: RpcError): void;
  named(head: Head): void;
  head(): Head | null;
  /** How often it has named its head so far. */
  timesNamed(): number;
  /** Milliseconds since it last did; infinite before. */
  silentMs(): number;
  facts(): EndpointFacts;
};

const WINDOW = 64;

export function createRecord(label: { network: string; endpoint: string }, metrics: EndpointMetrics): EndpointRecord {
  const durationsMs: number[] = [];
  const failures: EndpointFacts['failures'] = {};
  let answered = 0;
  let requests = 0;
  let times = 0;
  let head: Head | null = null;
  let namedAt = Number.NEGATIVE_INFINITY;
  let last: { error: string; at: Date } | null = null;

  return {
    exchanged(outcome, durationSeconds, calls) {
      requests += calls;
      metrics.requests.inc(label, calls);
      metrics.duration.observe({ ...label, outcome }, durationSeconds);
      // A refused connection is quick, and a refusal too; neither says how fast the node is.
      if (outcome !== 'ok' && outcome !== 'timeout') return;
      durationsMs[answered % WINDOW] = durationSeconds * 1000;
      answered += 1;
    },
    failed(error) {
      last = { error: error.message, at: new Date() };
      failures[error.kind] = (failures[error.kind] ?? 0) + 1;
      metrics.failures.inc({ ...label, cause: error.kind });
    },
    named(next) {
      head = next;
      namedAt = performance.now();
      times += 1;
    },
    head: () => head,
    timesNamed: () => times,
    silentMs: () => performance.now() - namedAt,
    facts: () => ({
      head: head?.number ?? null,
      latency_ms: quantiles(durationsMs),
      requests,
      failures: { ...failures },
      last_error: last?.error ?? null,
      last_error_at: last === null ? null : rfc3339(last.at),
    }),
  };
}

function quantiles(values: readonly number[]): { p50: number; p95: number } | null {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
  return sorted.length === 0 ? null : { p50: at(0.5), p95: at(0.95) };
}
