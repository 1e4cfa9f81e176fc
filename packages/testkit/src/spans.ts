import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { createTracer } from '@quittance/runtime/tracing/open-telemetry.ts';
import { installTracer } from '@quittance/runtime/tracing/tracing.ts';
import { eventually } from './eventually.ts';

/** An ended span. Ids are lowercase hex; `links` are ids of spans. */
export type RecordedSpan = {
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  links: string[];
  attributes: Record<string, unknown>;
  failed: boolean;
};

/**
 * Traces everything in this process until `stop`, and keeps the spans instead of exporting them. Apps created earlier
 * don't trace their requests.
 */
export function recordSpans({ ratio = 1 }: { ratio?: number } = {}): {
  ended(): RecordedSpan[];
  /** Waits for spans of this name. */
  named(name: string, count?: number): Promise<RecordedSpan[]>;
  stop(): void;
} {
  const spans: RecordedSpan[] = [];
  const { tracer } = createTracer({
    service: 'test',
    ratio,
    processor: {
      onStart: () => undefined,
      onEnd: (span) => void spans.push(toRecorded(span)),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  });
  installTracer(tracer);
  return {
    ended: () => [...spans],
    named: (name, count = 1) =>
      eventually(() => {
        const found = spans.filter((span) => span.name === name);
        if (found.length >= count) return found;
        throw new Error(
          `${found.length} of ${count} spans ${name}; there are ${spans.map((span) => span.name).join(', ')}`,
        );
      }),
    stop: () => installTracer(null),
  };
}

const kinds = ['internal', 'server', 'client', 'producer', 'consumer'] as const;

function toRecorded(span: ReadableSpan): RecordedSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    kind: kinds[span.kind],
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    links: span.links.map(({ context }) => context.spanId),
    attributes: span.attributes,
    failed: 'error.type' in span.attributes,
  };
}
