import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defineCall, json } from '@quittance/contracts/call.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { currentSpan } from '@quittance/runtime/tracing/tracing.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { recordSpans } from '@quittance/testkit/spans.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { createCallerHeaders } from '../src/call-token.ts';
import { createServiceClient } from '../src/client/client.ts';
import { unavailable } from '../src/errors.ts';
import type { Route } from '../src/server/route.ts';
import { startServer, type TestServer } from './server-fixture.ts';

const token = 'an internal token of at least 32 characters';
const theirs = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

const ReadThing = defineCall('payments', 'GET /things/:id', json());

let recording: ReturnType<typeof recordSpans>;
const closing: (() => Promise<void> | void)[] = [];

beforeEach(() => {
  recording = recordSpans();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  recording.stop();
});

async function start(options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  const server = await startServer({
    trust: sharedTrust(token),
    routes: [
      { method: 'GET', path: '/payments/:token', handle: () => ({ status: 200, body: {} }) },
      { method: 'GET', path: '/internal/v1/things/:id', handle: () => ({ status: 404, body: {} }) },
    ],
    ...options,
  });
  closing.push(() => server.stop());
  return server;
}

function clientOf(server: TestServer) {
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const client = createServiceClient({
    ...{ name: 'things', baseUrl: server.url, logger: testLogger, metrics },
    showCaller: createCallerHeaders('payments', sharedTrust(token)),
  });
  closing.push(() => client.close());
  return client;
}

describe('a request from outside', () => {
  test('starts a trace, whatever its traceparent, and its span has only the pattern of the path', async () => {
    const server = await start();
    await fetch(`${server.url}/payments/a-secret-token?x=a-secret-query`, { headers: { traceparent: theirs } });
    const [span] = await recording.named('GET /payments/:token');
    expect(span).toMatchObject({
      kind: 'server',
      parentSpanId: null,
      links: [],
      attributes: { 'http.request.method': 'GET', 'http.route': '/payments/:token', 'http.response.status_code': 200 },
    });
    expect(span!.traceId).not.toBe('a'.repeat(32));
    expect(JSON.stringify(recording.ended())).not.toContain('a-secret');
  });

  test('with a wrong internal token joins none of our traces', async () => {
    const server = await start();
    const headers = { traceparent: theirs, 'x-internal-token': 'wrong' };
    expect((await fetch(`${server.url}/internal/v1/things/1`, { headers })).status).toBe(401);
    await fetch(`${server.url}/payments/x`);
    await recording.named('GET /payments/:token');
    expect(recording.ended()).toHaveLength(1);
  });

  test('without a route, or to a probe, does not create an unlimited number of span names', async () => {
    const server = await start();
    await fetch(`${server.url}/nobody/knows/123`);
    for (const path of ['/livez', '/readyz', '/metrics']) await fetch(server.url + path);
    await fetch(`${server.url}/payments/x`);
    await recording.named('GET /payments/:token');
    expect(recording.ended().map(({ name }) => name)).toEqual(['GET', 'GET /payments/:token']);
  });
});

describe('a call to another service', () => {
  test('continues its trace there if the token shows that the caller is one of our services', async () => {
    const server = await start();
    await clientOf(server).send(ReadThing, { params: { id: 'thing_1' } });
    const [serving] = await recording.named('GET /internal/v1/things/:id');
    const [call] = await recording.named('GET things');
    expect(call).toMatchObject({
      kind: 'client',
      parentSpanId: null,
      attributes: { 'server.address': '127.0.0.1', 'server.port': server.port, 'http.response.status_code': 404 },
    });
    expect(serving).toMatchObject({ kind: 'server', traceId: call!.traceId, parentSpanId: call!.spanId });
    expect(JSON.stringify(recording.ended())).not.toContain('thing_1');
  });

  test("from within a request belongs to the request's trace, and the log lines of both name their span", async () => {
    const lines: string[] = [];
    const logger = createLogger({ service: 'test', level: 'info' }, { write: (line) => void lines.push(line) });
    const owner = await start();
    const client = clientOf(owner);
    const asking: Route = {
      method: 'GET',
      path: '/ask',
      handle: async () => {
        await client.send(ReadThing, { params: { id: '1' } });
        logger.info('asked');
        return { status: 200, body: { in: currentSpan()?.traceparent } };
      },
    };
    const server = await start({ routes: [asking], logger });
    await fetch(`${server.url}/ask`);
    const [request] = await recording.named('GET /ask');
    const [call] = await recording.named('GET things');
    expect(call).toMatchObject({ traceId: request!.traceId, parentSpanId: request!.spanId });
    const named = lines.map((line) => JSON.parse(line) as { msg: string; span_id?: string; trace_id?: string });
    for (const msg of ['asked', 'request']) {
      expect(named.find((line) => line.msg === msg)).toMatchObject({
        trace_id: request!.traceId,
        span_id: request!.spanId,
      });
    }
  });

  test('that fails is marked in both spans', async () => {
    const broken: Route = {
      method: 'GET',
      path: '/internal/v1/things/:id',
      handle: () => {
        throw unavailable(new Error('no database'));
      },
    };
    const server = await start({ routes: [broken] });
    const client = clientOf(server);
    await expect(client.send(ReadThing, { params: { id: '1' } })).rejects.toThrow('unavailable');
    await server.stop();
    await expect(client.send(ReadThing, { params: { id: '1' } })).rejects.toThrow('unavailable');
    const [answered, unanswered] = await recording.named('GET things', 2);
    const [serving] = await recording.named('GET /internal/v1/things/:id');
    expect(serving!.attributes).toMatchObject({ 'error.type': '503' });
    expect(answered!.attributes).toMatchObject({ 'error.type': '503' });
    expect(unanswered!.attributes).toMatchObject({ 'error.type': 'ECONNREFUSED' });
  });
});

test('an untraced call is sent without a traceparent', async () => {
  recording.stop();
  const seen: (string | undefined)[] = [];
  const things: Route = {
    method: 'GET',
    path: '/internal/v1/things/:id',
    handle: ({ headers }) => {
      seen.push(headers['traceparent'] as string | undefined);
      return { status: 200 };
    },
  };
  await clientOf(await start({ routes: [things] })).send(ReadThing, { params: { id: '1' } });
  expect(seen).toEqual([undefined]);
  expect(recording.ended()).toEqual([]);
});
