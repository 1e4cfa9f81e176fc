import type { Lifecycle } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { TracingSettings } from '../service-settings.ts';
import { installTracer } from './tracing.ts';

/**
 * Exports this process's traces, if its settings name a collector. Otherwise OpenTelemetry is not loaded.
 * Call it before anything else registers with the lifecycle: it closes last, and exports what happens while stopping.
 */
export async function startTracing({
  settings,
  service,
  logger,
  metrics,
  lifecycle,
}: {
  settings: TracingSettings | null;
  service: string;
  logger: Logger;
  metrics: Metrics;
  lifecycle: Lifecycle;
}): Promise<void> {
  if (settings === null) return;
  // eslint-disable-next-line no-restricted-syntax -- Our own file; loading it costs every process without tracing 100 ms.
  const { exportTraces } = await import('./export-traces.ts');
  const { tracer, close } = exportTraces({ service, settings, logger, metrics });
  installTracer(tracer);
  lifecycle.onStop('tracing', close);
  logger.info({ ratio: settings.ratio }, 'traces are exported');
}
