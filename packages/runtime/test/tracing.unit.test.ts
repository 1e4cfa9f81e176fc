import { afterEach, describe, expect, test } from '@jest/globals';
import { recordSpans } from '@quittance/testkit/spans.ts';
import { createBatchedCall } from '../src/concurrency/batched-call.ts';
import { createLogger } from '../src/logger.ts';
import {
  currentOrigin,
  currentSpan,
  withLinks,
  spanOrigin,
  inSpan,
  readTraceparent,
  type Span,
  tracer,
} from '../src/tracing/tracing.ts';

const trace = 'a'.repeat(32);
const sampled = `00-${trace}-${'b'.repeat(16)}-01`;
const unsampled = `00-${trace}-${'b'.repeat(16)}-00`;

let recording: ReturnType<typeof recordSpans> | null = null;
afterEach(() => {
  recording?.stop();
  recording = null;
});

const record = (options?: { ratio?: number }) => (recording = recordSpans(options));
const start = (name: string, options?: Parameters<NonNullable<ReturnType<typeof tracer>>['start']>[2]): Span =>
  tracer()!.start(name, 'internal', options);

describe('without a tracer', () => {
  test('there is no span, and nothing is linked', () => {
    expect(tracer()).toBeNull();
    expect(inSpan(undefined, () => currentSpan())).toBeUndefined();
    expect(withLinks([sampled], () => currentOrigin())).toEqual({ parent: null });
  });
});

describe('a span', () => {
  test('is a child of the current span, anywhere in its call tree', async () => {
    const { ended } = record();
    const outer = start('outer');
    await inSpan(outer, async () => {
      await Promise.resolve();
      start('inner').end();
    });
    outer.end();
    start('apart').end();
    const [inner, recordedOuter, apart] = ended();
    expect(inner).toMatchObject({
      name: 'inner',
      traceId: recordedOuter!.traceId,
      parentSpanId: recordedOuter!.spanId,
    });
    expect(recordedOuter!.parentSpanId).toBeNull();
    expect(apart!.traceId).not.toBe(recordedOuter!.traceId);
  });

  test('continues where its traceparent is read', () => {
    const { ended } = record();
    const span = start('one', { origin: { parent: sampled } });
    span.end();
    expect(span.traceparent).toBe(`00-${trace}-${ended()[0]!.spanId}-01`);
    expect(ended()[0]!.parentSpanId).toBe('b'.repeat(16));
  });

  test('of an unsampled trace is not recorded, here and where the trace continues', () => {
    const { ended } = record();
    const span = start('one', { origin: { parent: unsampled } });
    inSpan(span, () => start('two').end());
    span.end();
    expect(span.isSampled).toBe(false);
    expect(span.traceparent).toBe(unsampled);
    expect(ended()).toEqual([]);
  });

  test('is sampled by the ratio when it starts a trace, otherwise like its parent', () => {
    const { ended } = record({ ratio: 0 });
    const root = start('root', { origin: { parent: null } });
    root.end();
    start('child', { origin: { parent: sampled } }).end();
    expect(root.traceparent).toMatch(/-00$/);
    expect(ended().map(({ name }) => name)).toEqual(['child']);
  });

  test('that is linked to a sampled trace starts its own trace, which is sampled too', () => {
    const { ended } = record({ ratio: 0 });
    start('later', { origin: { parent: null, links: [sampled] } }).end();
    expect(ended()).toMatchObject([{ name: 'later', parentSpanId: null, links: ['b'.repeat(16)] }]);
    expect(ended()[0]!.traceId).not.toBe(trace);
  });
});

describe('work on behalf of several', () => {
  test('is in the trace of none of them, and is linked to the sampled ones', () => {
    const { ended } = record({ ratio: 0 });
    withLinks([unsampled, sampled, null, undefined], () => {
      expect(currentSpan()).toBeUndefined();
      start('for them').end();
    });
    expect(ended()).toMatchObject([{ parentSpanId: null, links: ['b'.repeat(16)] }]);
  });

  test('is not sampled when none of them is', () => {
    const { ended } = record();
    withLinks([null, unsampled], () => start('for them').end());
    expect(ended()).toEqual([]);
  });

  test('a batched call runs in the trace of a single caller, and in a new one for several', async () => {
    const { ended } = record();
    const ask = createBatchedCall<string, string, string>({
      ...{ maxBatch: 10, maxWaiting: 10, concurrency: 1, timeoutMs: 10_000 },
      keyOf: (question) => question,
      answerOf: (answer) => answer,
      run: async (asked) => {
        start(`call for ${asked.length}`).end();
        return asked.map(({ input }) => input);
      },
    });
    const [one, two, alone] = ['one', 'two', 'alone'].map((name) => start(name)) as [Span, Span, Span];
    await Promise.all([inSpan(one, () => ask('a')), inSpan(two, () => ask('b'))]);
    await inSpan(alone, () => ask('c'));
    const [together, apart] = ended();
    const idOf = (span: Span) => span.traceparent.slice(36, 52);
    expect(together).toMatchObject({ name: 'call for 2', parentSpanId: null, links: [idOf(one), idOf(two)] });
    expect(apart).toMatchObject({ name: 'call for 1', parentSpanId: idOf(alone), links: [] });
  });
});

describe('a span with an earlier cause', () => {
  test.each([
    ['a moment', 1_000, { parent: sampled }],
    ['59 minutes', 59 * 60_000, { parent: sampled }],
    ['two hours', 120 * 60_000, { parent: null, links: [sampled] }],
  ])('%s ago', (_text, agoMs, origin) => {
    expect(spanOrigin(sampled, new Date(Date.now() - agoMs))).toEqual(origin);
  });

  test.each([
    ['nothing', undefined],
    ['a number', 7],
    ['another text', 'x'],
    ['another version', sampled.replace(/^00/, '01')],
    ['something after it', `${sampled}-x`],
    ['a trace id of zeros', sampled.replaceAll('a', '0')],
    ['a span id of zeros', sampled.replaceAll('b', '0')],
    ['unknown flags', sampled.replace(/01$/, '03')],
  ])('by %s is not gone on from', (_text, traceparent) => {
    expect(readTraceparent(traceparent)).toBeNull();
    expect(spanOrigin(traceparent, new Date())).toEqual({ parent: null });
  });
});

describe('log lines', () => {
  test('inside a span name it, and still hide secrets', () => {
    record();
    const lines: string[] = [];
    const logger = createLogger({ service: 'shop', level: 'info' }, { write: (line) => void lines.push(line) });
    const span = start('one');
    inSpan(span, () => logger.info({ api_key: 'canary' }, 'inside'));
    inSpan(start('two', { origin: { parent: unsampled } }), () => logger.info('not exported'));
    logger.info('outside');
    const [inside, notExported, outside] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const [, traceId, spanId] = span.traceparent.split('-');
    expect(inside).toMatchObject({ trace_id: traceId, span_id: spanId, trace_flags: '01', api_key: '[redacted]' });
    expect(notExported).toMatchObject({ trace_id: trace, trace_flags: '00' });
    expect(outside).not.toHaveProperty('trace_id');
  });
});
