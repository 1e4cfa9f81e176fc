import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The interface of tracing. It does not load the library behind it, which is needed only where traces are exported: otherwise
 * `tracer()` is null, and callers start no span.
 */
export type Tracer = {
  /** Starts a span, which the caller ends. Without an origin it continues the current one: see `inSpan` and `withLinks`. */
  start(name: string, kind: SpanKind, options?: SpanOptions): Span;
};

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** By OpenTelemetry's semantic conventions. Never a secret, a whole URL, or what a merchant or customer wrote. */
export type SpanAttributes = Record<string, string | number | boolean>;

/** `parent` null starts a new trace. A trace that starts with a link to a sampled one is sampled too. */
export type SpanOrigin = { parent: string | null; links?: readonly string[] };

type SpanOptions = {
  origin?: SpanOrigin;
  attributes?: SpanAttributes;
};

export type Span = {
  /** W3C traceparent, for what the span causes elsewhere or later. */
  readonly traceparent: string;
  /** Whether it will be exported; costly attributes are set only then. */
  readonly isSampled: boolean;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** @param type of low cardinality: an error's class, a status. */
  fail(type: string): void;
  end(): void;
};

let installed: Tracer | null = null;

/** Called once by a process that exports traces, and by tests. */
export function installTracer(tracer: Tracer | null): void {
  installed = tracer;
}

/** Null when nothing is traced. */
export function tracer(): Tracer | null {
  return installed;
}

/** The current span; or, for work on behalf of several, the origin of the spans started in it. */
const current = new AsyncLocalStorage<Span | SpanOrigin>();

const isSpan = (value: Span | SpanOrigin | undefined): value is Span => value !== undefined && 'traceparent' in value;

/** Runs `fn`; every span, log line, outgoing call and message it causes belongs to the span. */
export function inSpan<T>(span: Span | undefined, fn: () => T): T {
  return span === undefined ? fn() : current.run(span, fn);
}

/**
 * Runs `fn` on behalf of several callers. Each span started in it starts a new trace, linked to those of the callers' spans
 * that are sampled, because it belongs to none of them alone.
 */
export function withLinks<T>(traceparents: readonly (string | null | undefined)[], fn: () => T): T {
  if (installed === null) return fn();
  const callers = traceparents.filter((traceparent) => typeof traceparent === 'string');
  const links = callers.filter(isSampled);
  // Where no caller is sampled, the work is not either.
  return current.run({ parent: links.length === 0 ? (callers[0] ?? null) : null, links }, fn);
}

/** The span of the current work, from anywhere in its call tree. */
export function currentSpan(): Span | undefined {
  if (installed === null) return undefined;
  const value = current.getStore();
  return isSpan(value) ? value : undefined;
}

/** The origin of a span started here without one. */
export function currentOrigin(): SpanOrigin {
  const value = current.getStore();
  return isSpan(value) ? { parent: value.traceparent } : (value ?? { parent: null });
}

/** The members that log lines have inside a span. `trace_flags` 00: the trace is not exported. */
export function traceFields(): { trace_id: string; span_id: string; trace_flags: string } | undefined {
  const traceparent = currentSpan()?.traceparent;
  if (traceparent === undefined) return undefined;
  return {
    trace_id: traceparent.slice(3, 35),
    span_id: traceparent.slice(36, 52),
    trace_flags: traceparent.slice(53),
  };
}

/** Tools search traces by time and load them whole; a pause of a day would make one hard to find and to store. */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * The origin of a span whose cause lies back: a child of its cause within an hour, after that a new trace with a link to it.
 * @param traceparent as it was stored or sent; any other value counts as none.
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
