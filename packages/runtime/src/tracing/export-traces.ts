import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { createTracer } from './open-telemetry.ts';
import type { TracingSettings } from '../service-settings.ts';
import type { Tracer } from './tracing.ts';
import { withTimeout } from '../concurrency/deadline.ts';

/** For one export with its retries. Spans that the collector doesn't accept in time are dropped. */
const EXPORT_TIMEOUT_MS = 5_000;
/** If the process is killed, it loses the spans of at most this time. */
const EXPORT_EVERY_MS = 2_000;
const BATCH_SIZE = 512;
/** About 2 MB. While the collector is unavailable, further spans are dropped. */
const QUEUE_SIZE = 2_048;
/** Part of the 25 s in which a process must stop. */
const FLUSH_LIMIT_MS = 2_000;

/** Sends spans to a collector in the background, by OTLP over HTTP, as JSON. */
export function exportTraces({
  service,
  settings,
  logger,
  metrics,
}: {
  service: string;
  settings: TracingSettings;
  logger: Logger;
  metrics: Metrics;
}): { tracer: Tracer; close: () => Promise<void> } {
  const exporter = new OTLPTraceExporter({
    url: `${settings.endpoint}/v1/traces`,
    headers: settings.headers,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const batches = new BatchSpanProcessor({
    exporter: reporting(exporter, logger, metrics),
    maxQueueSize: QUEUE_SIZE,
    maxExportBatchSize: BATCH_SIZE,
    scheduledDelayMillis: EXPORT_EVERY_MS,
    exportTimeoutMillis: 2 * EXPORT_TIMEOUT_MS,
  });
  const { tracer, close } = createTracer({ service, ratio: settings.ratio, processor: counting(batches, metrics) });
  return {
    tracer,
    async close() {
      await withTimeout(FLUSH_LIMIT_MS, close()).catch((error: unknown) => {
        logger.warn({ reason: messageOf(error) }, 'the last spans were not exported');
      });
    },
  };
}

/**
 * Counts ended spans. Those that were neither exported nor failed are waiting, or were dropped because the queue was
 * full.
 */
function counting(processor: SpanProcessor, metrics: Metrics): SpanProcessor {
  const ended = metrics.counter('trace_spans_ended_total', 'Sampled spans that ended');
  return {
    onStart: (span, context) => processor.onStart(span, context),
    onEnd(span) {
      ended.inc();
      processor.onEnd(span);
    },
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  };
}

/** Logs only changes, so that a long outage is two lines. */
function reporting(exporter: SpanExporter, logger: Logger, metrics: Metrics): SpanExporter {
  const exported = metrics.counter('trace_spans_exported_total', 'Spans that were sent to the collector, by outcome', [
    'outcome',
  ]);
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { error } = result;
        const fails = error !== undefined;
        exported.inc({ outcome: fails ? 'failed' : 'ok' }, spans.length);
        if (fails && !isFailing) logger.warn({ reason: messageOf(error) }, 'trace export failed');
        if (!fails && isFailing) logger.info('trace export works again');
        isFailing = fails;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error));
