import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The tracing interface. It doesn't load the tracing library, which is needed only when traces are exported. When they
 * are not, `tracer()` is null and callers start no span.
 */
export type Tracer = {
  /**
   * Starts a span; the caller ends it. Without an origin it continues the current span: see `inSpan` and `withLinks`.
   */
  start(name: string, kind: SpanKind, options?: SpanOptions): Span;
};

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/**
 * Follow OpenTelemetry's semantic conventions. Never include a secret, a whole URL, or text that a merchant or customer
 * wrote.
 */
export type SpanAttributes = Record<string, string | number | boolean>;

/** A null `parent` starts a new trace. A trace that starts with a link to a sampled one is sampled too. */
export type SpanOrigin = { parent: string | null; links?: readonly string[] };

type SpanOptions = {
  origin?: SpanOrigin;
  attributes?: SpanAttributes;
};

export type Span = {
  /** W3C traceparent, for work that the span causes elsewhere or later. */
  readonly traceparent: string;
  /** Whether the span is exported. Set expensive attributes only then. */
  readonly isSampled: boolean;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** @param type one of few values, such as an error's class or a status. */
  fail(type: string): void;
  end(): void;
};

let installed: Tracer | null = null;

/** Called once by a process that exports traces, and by tests. */
export function installTracer(tracer: Tracer | null): void {
  installed = tracer;
}

/** Null when tracing is off. */
export function tracer(): Tracer | null {
  return installed;
}

/** The current span; for work on behalf of several callers, the origin of spans started in it. */
const current = new AsyncLocalStorage<Span | SpanOrigin>();

const isSpan = (value: Span | SpanOrigin | undefined): value is Span => value !== undefined && 'traceparent' in value;

/** Runs `fn`. Every span, log line, outgoing call and message that it causes belongs to the span. */
export function inSpan<T>(span: Span | undefined, fn: () => T): T {
  return span === undefined ? fn() : current.run(span, fn);
}

/**
 * Runs `fn` on behalf of several callers. Each span started in it belongs to none of them alone, so it starts a new
 * trace with links to the sampled spans of the callers.
 */
export function withLinks<T>(traceparents: readonly (string | null | undefined)[], fn: () => T): T {
  if (installed === null) return fn();
  const callers = traceparents.filter((traceparent) => typeof traceparent === 'string');
  const links = callers.filter(isSampled);
  // If no caller is sampled, the work isn't sampled either.
  return current.run({ parent: links.length === 0 ? (callers[0] ?? null) : null, links }, fn);
}

/** The span of the current work, from anywhere in its call tree. */
export function currentSpan(): Span | undefined {
  if (installed === null) return undefined;
  const value = current.getStore();
  return isSpan(value) ? value : undefined;
}

/** The origin of a span that is started here without an explicit one. */
export function currentOrigin(): SpanOrigin {
  const value = current.getStore();
  return isSpan(value) ? { parent: value.traceparent } : (value ?? { parent: null });
}

/** The fields of log lines inside a span. With `trace_flags` 00 the trace is not exported. */
export function traceFields(): { trace_id: string; span_id: string; trace_flags: string } | undefined {
  const traceparent = currentSpan()?.traceparent;
  if (traceparent === undefined) return undefined;
  return {
    trace_id: traceparent.slice(3, 35),
    span_id: traceparent.slice(36, 52),
    trace_flags: traceparent.slice(53),
  };
}

/**
 * The longest pause inside one trace. Tools search traces by time and load them whole, so a trace with a pause of a day
 * would be hard to find and to store.
 */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * The origin of a span that was caused earlier. Within an hour it is a child of its cause; after that it starts a new
 * trace with a link to the cause.
 * @param traceparent as it was stored or sent; an invalid value counts as none.
 * @param since when the cause was stored or sent.
 */
export function spanOrigin(traceparent: unknown, since: Date): SpanOrigin {
  const parent = readTraceparent(traceparent);
  if (parent === null || Date.now() - since.getTime() <= LONGEST_PAUSE_MS) return { parent };
  return { parent: null, links: [parent] };
}

/** @returns the text when it is a traceparent of version 00, else null. */
export function readTraceparent(text: unknown): string | null {
  return typeof text === 'string' && /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/.test(text) ? text : null;
}

export function isSampled(traceparent: string): boolean {
  return traceparent.endsWith('1');
}
