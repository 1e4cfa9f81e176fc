import type { Lifecycle } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { TracingSettings } from '../service-settings.ts';
import { installTracer } from './tracing.ts';

/**
 * Has this process traced, if it is told where traces go. Otherwise nothing of OpenTelemetry is loaded.
 * Call it before anything is registered to be closed, so that it is closed last and what happens while stopping is exported too.
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
  // eslint-disable-next-line no-restricted-syntax -- It is our own room, and loading it costs every process that is not traced 100 ms.
  const { exportTraces } = await import('./export-traces.ts');
  const { tracer, close } = exportTraces({ service, settings, logger, metrics });
  installTracer(tracer);
  lifecycle.onStop('tracing', close);
  logger.info({ ratio: settings.ratio }, 'traces are exported');
}
