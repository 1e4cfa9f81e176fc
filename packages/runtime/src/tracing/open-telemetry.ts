import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
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
import { currentOrigin, isSampled, type Span, type SpanOrigin, type Tracer } from './tracing.ts';

/**
 * The tracer that is made of OpenTelemetry's SDK. Nothing of it is registered globally, so no library in the process finds it:
 * what is traced is what this project's own seams say.
 * @param ratio of the traces that begin here, from 0 to 1; whoever continues a trace does as its beginning did.
 * @param processor gets the spans that ended.
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
      'service.version': version(),
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
        // What is not exported needs no ids of its own: its callers' will do to tell the next one so.
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

/** All packages have one version. */
function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** What goes on from a sampled trace in a trace of its own is sampled too: the link would otherwise lead nowhere. */
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

const nothing = (): void => undefined;

const unrecorded = (traceparent: string): Span => ({
  traceparent,
  isSampled: false,
  set: nothing,
  rename: nothing,
  fail: nothing,
  end: nothing,
});
