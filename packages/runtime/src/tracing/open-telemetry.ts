import { randomUUID } from 'node:crypto';
import { type Link, ROOT_CONTEXT, type SpanContext, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { version } from '../version.ts';
import { currentOrigin, isSampled, type Span, type SpanOrigin, type Tracer } from './tracing.ts';

/**
 * A tracer that uses OpenTelemetry's SDK. It is not registered globally, so that no library in the process uses it:
 * only this project's own code creates spans.
 * @param ratio the share of traces that start here, from 0 to 1. A continued trace keeps its original decision.
 * @param processor receives the ended spans.
 */
export function createTracer({
  service,
  ratio,
  processor,
}: {
  service: string;
  ratio: number;
  processor: SpanProcessor;
}): { tracer: Tracer; close: () => Promise<void> } {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': service,
      'service.namespace': 'quittance',
      'service.version': version,
      'service.instance.id': randomUUID(),
    }),
    sampler: new ParentBasedSampler({ root: asLinked(new TraceIdRatioBasedSampler(ratio)) }),
    spanLimits: { attributeValueLengthLimit: 256 },
    spanProcessors: [processor],
  });
  const sdk = provider.getTracer('quittance');
  return {
    tracer: {
      start(name, kind, { origin = currentOrigin(), attributes } = {}) {
        const { parent } = origin;
        // A span that is not exported doesn't need new ids. Its parent's ids pass on the decision.
        if (parent !== null && !isSampled(parent)) return unrecorded(parent);
        const links = toLinks(origin);
        const options = { kind: kinds[kind], ...(attributes && { attributes }), ...(links && { links }) };
        const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toContext(parent));
        return recorded(sdk.startSpan(name, options, context));
      },
    },
    close: () => provider.shutdown(),
  };
}

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** A trace linked to a sampled one is sampled too. Otherwise the link would lead nowhere. */
function asLinked(root: Sampler): Sampler {
  return {
    shouldSample: (context, traceId, name, kind, attributes, links) =>
      links.some((link) => (link.context.traceFlags & 1) === 1)
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : root.shouldSample(context, traceId, name, kind, attributes, links),
    toString: () => `AsLinked{${root.toString()}}`,
  };
}

function toLinks({ links = [] }: SpanOrigin): Link[] | null {
  return links.length === 0 ? null : links.map((link) => ({ context: toContext(link) }));
}

function toContext(traceparent: string): SpanContext {
  return {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    traceFlags: isSampled(traceparent) ? 1 : 0,
    isRemote: true,
  };
}

function recorded(span: ReturnType<ReturnType<TracerProvider['getTracer']>['startSpan']>): Span {
  const { traceId, spanId } = span.spanContext();
  if (!span.isRecording()) return unrecorded(`00-${traceId}-${spanId}-00`);
  return {
    traceparent: `00-${traceId}-${spanId}-01`,
    isSampled: true,
    set: (attributes) => void span.setAttributes(attributes),
    rename: (name) => void span.updateName(name),
    fail: (type) => void span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type),
    end: () => span.end(),
  };
}

const noop = (): void => undefined;

const unrecorded = (traceparent: string): Span => ({
  traceparent,
  isSampled: false,
  set: noop,
  rename: noop,
  fail: noop,
  end: noop,
});
