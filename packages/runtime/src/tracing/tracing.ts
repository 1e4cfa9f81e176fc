import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The seam at which a payment's way is traced. It knows nothing of the library behind it, which is loaded only where traces are
 * exported: without it `tracer()` is null, and whoever would begin a span sees that and does nothing else.
 */
export type Tracer = {
  /** Begins a span, whose maker ends it. Without an origin it goes on from where it is begun: see `inSpan` and `forSeveral`. */
  start(name: string, kind: SpanKind, options?: SpanOptions): Span;
};

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** By OpenTelemetry's semantic conventions. Never a secret, a whole URL, or what a merchant or customer wrote. */
export type SpanAttributes = Record<string, string | number | boolean>;

/** `parent` null begins a new trace. A trace that begins with a link to a sampled one is sampled as well. */
export type SpanOrigin = { parent: string | null; links?: readonly string[] };

type SpanOptions = {
  origin?: SpanOrigin;
  attributes?: SpanAttributes;
};

export type Span = {
  /** W3C traceparent, for whatever the span causes elsewhere or later. */
  readonly traceparent: string;
  /** Whether it will be exported; what costs something is done only then. */
  readonly isSampled: boolean;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** @param type one of few words: an error's class, a status. */
  fail(type: string): void;
  end(): void;
};

let installed: Tracer | null = null;

/** Called once by the frame of a process that exports traces, and by tests. */
export function installTracer(tracer: Tracer | null): void {
  installed = tracer;
}

/** Null when nothing is traced. */
export function tracer(): Tracer | null {
  return installed;
}

/** The span of the work under way; or, for work on behalf of several, what the spans begun in it hang on. */
const places = new AsyncLocalStorage<Span | SpanOrigin>();

const isSpan = (place: Span | SpanOrigin | undefined): place is Span => place !== undefined && 'traceparent' in place;

/** Runs `fn`; every span, log line, outgoing call and message it causes belongs to the span. */
export function inSpan<T>(span: Span | undefined, fn: () => T): T {
  return span === undefined ? fn() : places.run(span, fn);
}

/**
 * Runs `fn` on behalf of several. What it causes is nobody's that it might be taken for: each span begun in it begins a trace of its
 * own, which is linked to those of theirs that are sampled.
 */
export function forSeveral<T>(traceparents: readonly (string | null | undefined)[], fn: () => T): T {
  if (installed === null) return fn();
  const theirs = traceparents.filter((traceparent) => typeof traceparent === 'string');
  const links = theirs.filter(isSampled);
  // Where all of them are not sampled, what is done for them is not either.
  return places.run({ parent: links.length === 0 ? (theirs[0] ?? null) : null, links }, fn);
}

/** The span of the work under way, wherever in its call tree this is asked. */
export function currentSpan(): Span | undefined {
  if (installed === null) return undefined;
  const place = places.getStore();
  return isSpan(place) ? place : undefined;
}

/** What a span begun here hangs on unless it is told otherwise. */
export function currentOrigin(): SpanOrigin {
  const place = places.getStore();
  return isSpan(place) ? { parent: place.traceparent } : (place ?? { parent: null });
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

/** A trace is looked at as a whole, by the time it was at; a day's pause in it would make it hard to find and to hold. */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * How a span goes on from what caused it some time before: as its child within an hour, after that as a new trace with a link to it.
 * @param traceparent as it was stored or sent; anything else counts as none.
 * @param since when that was.
 */
export function spanOrigin(traceparent: unknown, since: Date): SpanOrigin {
  const parent = readTraceparent(traceparent);
  if (parent === null || Date.now() - since.getTime() <= LONGEST_PAUSE_MS) return { parent };
  return { parent: null, links: [parent] };
}

/** @returns the text when it is a traceparent of the version that we write, else null. */
export function readTraceparent(text: unknown): string | null {
  return typeof text === 'string' && /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/.test(text) ? text : null;
}

export function isSampled(traceparent: string): boolean {
  return traceparent.endsWith('1');
}
