/** The distribution of many durations, in milliseconds. */
export type Latencies = { count: number; p50: number; p99: number; max: number };

/** All are NaN without durations. */
export function latenciesOf(ms: readonly number[]): Latencies {
  const sorted = [...ms].sort((a, b) => a - b);
  return { count: sorted.length, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: quantile(sorted, 1) };
}

/** The smallest duration that this share of all does not exceed. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
