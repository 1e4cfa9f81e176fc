import type { Metrics } from '@quittance/runtime/metrics.ts';

/** What can be seen of the endpoints from outside. `endpoint` is the position in the networks file. */
export type EndpointMetrics = ReturnType<typeof createEndpointMetrics>;

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
    available: metrics.gauge('chain_endpoint_available', '0 while an endpoint rests or has been set aside', endpoint),
    headLag: metrics.gauge('chain_endpoint_head_lag_blocks', 'Blocks behind the best head that is credible', endpoint),
  };
}
