import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { version } from './version.ts';

/** In seconds: fine below 100 ms, where most of our latencies are, and up to 15 s for a webhook attempt. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * A service's metrics. A second call with the same name returns the same metric, so modules don't need to share
 * instances. Names follow Prometheus conventions: base units, `_total` for counters, `_seconds` for durations.
 * @param options.processMetrics on by default: memory, CPU, garbage collection, event loop lag and the release.
 */
export function createMetrics({ service, processMetrics = true }: { service: string; processMetrics?: boolean }) {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  if (processMetrics) exposeProcess(registry);
  const readers: (() => void)[] = [];

  /** A name has one kind of metric. Using it for two kinds is a bug, which fails on first use. */
  function once<M>(name: string, create: () => M): M {
    return (registry.getSingleMetric(name) as M | undefined) ?? create();
  }

  return {
    registry,
    counter: <L extends string>(name: string, help: string, labels: readonly L[] = []) =>
      once(name, () => new Counter<L>({ name, help, labelNames: [...labels], registers: [registry] })),
    gauge: <L extends string>(name: string, help: string, labels: readonly L[] = []) =>
      once(name, () => new Gauge<L>({ name, help, labelNames: [...labels], registers: [registry] })),
    histogram: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      buckets: readonly number[] = DURATION_BUCKETS,
    ) =>
      once(
        name,
        () => new Histogram<L>({ name, help, labelNames: [...labels], buckets: [...buckets], registers: [registry] }),
      ),
    /** Runs `read` before every scrape, to set gauges whose value lives elsewhere, such as a pool's size. */
    beforeScrape: (read: () => void): void => void readers.push(read),
    /** The exposition text of /metrics. */
    async render(): Promise<{ contentType: string; text: string }> {
      for (const read of readers) read();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function exposeProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  const build = new Gauge({
    name: 'quittance_build_info',
    help: 'Always 1; the labels say which release runs, and on which Node',
    labelNames: ['version', 'node'],
    registers: [registry],
  });
  build.set({ version, node: process.version }, 1);
  const limit = new Gauge({
    name: 'process_memory_limit_bytes',
    help: 'Memory beyond which the process is killed: the limit of its container, else what the machine has',
    registers: [registry],
  });
  limit.set(memoryLimit());
  new Gauge({
    name: 'disk_free_ratio',
    help: "Free share of the disk with the process's own files; in a container that is the disk of its machine",
    registers: [registry],
    collect() {
      const { bavail, blocks } = statfsSync('/');
      this.set(bavail / blocks);
    },
  });
}

/** Without a limit, the kernel reports none, or a number larger than any machine's memory. */
function memoryLimit(): number {
  const container = process.constrainedMemory();
  return container > 0 ? Math.min(container, totalmem()) : totalmem();
}
