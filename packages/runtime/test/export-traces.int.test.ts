import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Collector, startCollector } from '@quittance/testkit/collector.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { exportTraces } from '../src/tracing/export-traces.ts';
import { createLogger } from '../src/logger.ts';
import { createMetrics } from '../src/metrics.ts';
import { readFrameConfig } from '../src/service-settings.ts';

// Longer than any wait inside a test, so that a failure shows that wait's own error.
let collector: Collector;
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(() => collector.close());

function startExport(env: Record<string, string> = {}) {
  const lines: string[] = [];
  const logger = createLogger({ service: 'shop', level: 'info' }, { write: (line) => void lines.push(line) });
  const metrics = createMetrics({ service: 'shop', processMetrics: false });
  const { tracing } = readFrameConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '1',
    ...env,
  });
  const { tracer, close } = exportTraces({ service: 'shop', settings: tracing!, logger, metrics });
  const count = async (name: string, outcome?: string): Promise<number> => {
    const { values } = (await metrics.registry.getSingleMetric(name)?.get()) ?? { values: [] };
    return values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;
  };
  const spans = (times: number) => {
    for (let n = 0; n < times; n += 1) tracer.start('work', 'internal', { attributes: { n } }).end();
  };
  return { tracer, spans, close, lines, count };
}

describe('spans', () => {
  test('reach the collector in batches, with their service and the configured headers', async () => {
    const { spans, close, count } = startExport({
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-scope=a=b',
    });
    spans(600);
    await eventually(async () => expect(await count('trace_spans_exported_total', 'ok')).toBe(600));
    expect(collector.spans()).toHaveLength(600);
    expect(collector.requests).toHaveLength(2);
    expect(collector.requests[0]!.headers).toMatchObject({ authorization: 'Bearer abc', 'x-scope': 'a=b' });
    expect(collector.spans()[0]).toMatchObject({ service: 'shop', name: 'work', attributes: { n: 0 } });
    expect(collector.requests[0]!.body).toMatch(/"service\.version".*"service\.instance\.id"/);
    await close();
  });

  test('that ended just before the stop are exported before it', async () => {
    const { spans, close } = startExport();
    spans(3);
    await close();
    expect(collector.spans()).toHaveLength(3);
  });

  test('belong to the traces that the ratio selects', async () => {
    const { spans, close, count } = startExport({ OTEL_TRACES_SAMPLER_ARG: '0.25' });
    spans(2_000);
    await close();
    // Six standard deviations around 500, so that chance does not fail the test.
    expect(Math.abs((await count('trace_spans_ended_total')) - 500)).toBeLessThan(120);
  });
});

describe('a collector', () => {
  test('that hangs does not delay a stop, fills no more than the queue, and is logged once', async () => {
    const { spans, close, lines, count } = startExport();
    collector.become('hanging');
    spans(10_000);
    await close();
    expect(await count('trace_spans_ended_total')).toBe(10_000);
    expect(await count('trace_spans_exported_total', 'ok')).toBe(0);
    // It did not wait until an export timed out either.
    expect(await count('trace_spans_exported_total', 'failed')).toBe(0);
    // A batch in progress and a full queue.
    const tried = collector.requests.reduce((sum, { body }) => sum + (body.match(/"spanId"/g)?.length ?? 0), 0);
    expect(tried).toBeGreaterThan(0);
    expect(tried).toBeLessThanOrEqual(512 + 2_048);
    expect(lines.filter((line) => line.includes('the last spans were not exported'))).toHaveLength(1);
  });

  test('that refuses is logged once, and spans are exported again when it accepts them', async () => {
    const { spans, close, lines, count } = startExport();
    collector.become('refusing');
    spans(1);
    await eventually(async () => expect(await count('trace_spans_exported_total', 'failed')).toBe(1));
    collector.become('taking');
    spans(1);
    await eventually(async () => expect(await count('trace_spans_exported_total', 'ok')).toBe(1));
    await close();
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'trace export failed',
      'trace export works again',
    ]);
  });
});

describe('the settings', () => {
  test('turn tracing off without an endpoint', () => {
    expect(readFrameConfig({ OTEL_TRACES_SAMPLER_ARG: '1' }).tracing).toBeNull();
  });

  test.each([
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'canary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=canary%zz'],
  ])('%s=%s is refused, and its text is not repeated', (name, value) => {
    const reading = () => readFrameConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', [name]: value });
    expect(reading).toThrow(name);
    expect(reading).not.toThrow('canary');
  });
});
