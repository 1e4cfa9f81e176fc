import type { Metrics } from '@quittance/runtime/metrics.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { createContradictions } from './contradictions.ts';
import type { RpcError, RpcErrorKind } from './errors.ts';
import type { Head } from './heads.ts';

export type EndpointMetrics = ReturnType<typeof createEndpointMetrics>;

/** `endpoint` is the position in the networks file. */
export function createEndpointMetrics(metrics: Metrics) {
  const endpoint = ['network', 'endpoint'] as const;
  return {
    duration: metrics.histogram(
      'chain_rpc_request_duration_seconds',
      'Duration of HTTP exchanges with nodes; endpoint is the position in the networks file',
      [...endpoint, 'outcome'],
    ),
    requests: metrics.counter('chain_rpc_requests_total', 'Calls sent to nodes; a batch counts all it holds', endpoint),
    failures: metrics.counter('chain_rpc_failures_total', 'Failed reads from nodes, retried elsewhere if possible', [
      ...endpoint,
      'cause',
    ]),
    available: metrics.gauge(
      'chain_endpoint_available',
      '0 while an endpoint cools down or its circuit is open',
      endpoint,
    ),
    head: metrics.gauge(
      'chain_endpoint_head_block',
      'Height of the newest block that the endpoint has shown; absent when it has shown none for five minutes',
      endpoint,
    ),
    headLag: metrics.gauge('chain_endpoint_head_lag_blocks', 'Blocks behind the best trusted head', endpoint),
    budgetUsed: metrics.gauge(
      'chain_endpoint_budget_used_ratio',
      'Share of the plan of the day that is used; of requests or of units, whichever is scarcer',
      endpoint,
    ),
    budgetAhead: metrics.gauge(
      'chain_endpoint_budget_ahead_ratio',
      'Share of the plan of the day that is used less the share of the day that is over',
      endpoint,
    ),
  };
}

/** Number of exchanges whose latency is kept. */
const WINDOW = 64;

/** @param onFalse called when the endpoint keeps contradicting itself. */
export function createEndpointStats(
  label: { network: string; endpoint: string },
  metrics: EndpointMetrics,
  onFalse: (what: string) => void,
) {
  const contradictions = createContradictions(onFalse);
  const durationsMs: number[] = [];
  const failures: Partial<Record<RpcErrorKind, number>> = {};
  let answered = 0;
  let requests = 0;
  let headCount = 0;
  let head: Head | null = null;
  let headAt = Number.NEGATIVE_INFINITY;
  let last: { error: string; at: Date } | null = null;

  return {
    recordExchange(outcome: 'ok' | RpcErrorKind, durationSeconds: number, calls: number): void {
      requests += calls;
      metrics.requests.inc(label, calls);
      metrics.duration.observe({ ...label, outcome }, durationSeconds);
      // A refused connection or request is quick, and does not show how fast the node is.
      if (outcome !== 'ok' && outcome !== 'timeout') return;
      durationsMs[answered % WINDOW] = durationSeconds * 1000;
      answered += 1;
    },
    recordFailure(error: RpcError): void {
      contradictions.note(error);
      last = { error: error.message, at: new Date() };
      failures[error.kind] = (failures[error.kind] ?? 0) + 1;
      metrics.failures.inc({ ...label, cause: error.kind });
    },
    recordHead(next: Head): void {
      head = next;
      headAt = performance.now();
      headCount += 1;
    },
    head: () => head,
    /** How often the endpoint has reported its head so far. */
    headCount: () => headCount,
    /** Milliseconds since it last reported its head; infinite before the first time. */
    headAgeMs: () => performance.now() - headAt,
    /** The statistics that the internal API shows. */
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
