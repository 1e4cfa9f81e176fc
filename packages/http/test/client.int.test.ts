import { once } from 'node:events';
import { createServer, type Server, type ServerResponse, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from '@jest/globals';

import { defineCall, json, object, type Method } from '@quittance/contracts/call.ts';
import { query } from '@quittance/contracts/query.ts';
import { createCaller, withCaller } from '@quittance/runtime/concurrency/caller.ts';
import { withRequestId } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';

import { ServiceUnavailable, createServiceClient, type ServiceClient } from '../src/client/client.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** The other service, which answers as told and records its requests. */
async function startOwner(answer: (request: IncomingMessage, response: ServerResponse, count: number) => void) {
  const requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      answer(request, response, requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close().closeAllConnections());
  return { server, requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A service that runs while this thread is blocked; it answers after 500 ms. */
async function ownerInThread(): Promise<{ worker: Worker; url: string }> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:http').createServer((_, response) => setTimeout(() => response.end('{}'), 500));
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true },
  );
  const [port] = (await once(worker, 'message')) as [number];
  return { worker, url: `http://127.0.0.1:${port}` };
}

function clientOf(baseUrl: string, timeoutMs = 5_000) {
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const client = createServiceClient({
    name: 'payments',
    baseUrl,
    showCaller: (audience) => ({ 'x-call-token': `for ${audience}` }),
    timeoutMs,
    logger: testLogger,
    metrics,
  });
  closing.push(() => client.close());
  return Object.assign(client, { metrics });
}

type Asked = { method: Method; path: string; json?: object; idempotent?: boolean };

/** Declares a call and sends it. */
const send = (client: ServiceClient, { json: body, ...asked }: Asked) => {
  const call = defineCall('payments', `${asked.method} /`, json(), { body: json<object | undefined>() });
  return client.send({ ...call, ...asked }, { body });
};

const failure = (client: ServiceClient, asked: Asked) =>
  send(client, asked).then(
    () => null,
    (error: unknown) => error,
  );

describe('a request', () => {
  test('carries the token, the request id, the query and JSON, and returns status, headers and exact bytes', async () => {
    const owner = await startOwner((_request, response) => {
      response.writeHead(201, { 'x-extra': 'yes' }).end('{"amount": "1.50"}');
    });
    const client = clientOf(owner.url);
    const Create = defineCall('payments', 'POST /x/:id', json(), {
      query: { status: query.text, cursor: query.text },
      body: object<{ a: number }>({ a: { type: 'integer' } }),
    });
    const response = await withRequestId('req-1', () =>
      client.send(Create, { params: { id: 'a/b' }, query: { status: 'PAID', cursor: 'a&b' }, body: { a: 1 } }),
    );
    expect(response).toMatchObject({ status: 201, headers: { 'x-extra': 'yes' } });
    expect(response.body.toString()).toBe('{"amount": "1.50"}');
    expect(owner.requests).toEqual([
      {
        method: 'POST',
        url: '/internal/v1/x/a%2Fb?status=PAID&cursor=a%26b',
        headers: expect.objectContaining({
          'x-call-token': 'for payments',
          'x-request-id': 'req-1',
          'content-type': 'application/json',
        }),
        body: '{"a":1}',
      },
    ]);
  });

  test.each([200, 204, 302, 400, 401, 404, 409, 422, 429])('answered %i is returned', async (status) => {
    const owner = await startOwner((_request, response) => response.writeHead(status, { location: '/x' }).end());
    expect((await send(clientOf(owner.url), { method: 'GET', path: '/' })).status).toBe(status);
    expect(owner.requests).toHaveLength(1);
  });

  test.each([500, 502, 503])('answered %i means unavailable, and is not repeated', async (status) => {
    const owner = await startOwner((_request, response) => response.writeHead(status).end());
    expect(await failure(clientOf(owner.url), { method: 'GET', path: '/' })).toMatchObject({
      name: 'ServiceUnavailable',
      status: 503,
      message: 'payments is unavailable',
      cause: new Error(`it answered ${status}`),
    });
    expect(owner.requests).toHaveLength(1);
  });

  test('that finds no server means unavailable', async () => {
    const owner = await startOwner(() => undefined);
    owner.server.close();
    expect(await failure(clientOf(owner.url), { method: 'GET', path: '/' })).toBeInstanceOf(ServiceUnavailable);
  });

  test('with no answer, or half of one, ends at its deadline', async () => {
    const owner = await startOwner((_request, response, count) => {
      if (count === 2) response.writeHead(200, { 'content-length': '100' }).write('half');
    });
    // Enough time for the request to arrive, even on a busy machine.
    const client = clientOf(owner.url, 1_000);
    expect(await failure(client, { method: 'GET', path: '/' })).toBeInstanceOf(ServiceUnavailable);
    expect(await failure(client, { method: 'GET', path: '/' })).toBeInstanceOf(ServiceUnavailable);
    expect(owner.requests).toHaveLength(2);
  });

  test('whose answer is too large means unavailable', async () => {
    const owner = await startOwner((_request, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(65_536);
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    expect(await failure(clientOf(owner.url), { method: 'GET', path: '/' })).toBeInstanceOf(ServiceUnavailable);
  });

  test.each(['x', '/a/../b', '/a b', '/é', '/a?b=1', '/a#b', '/a\\b', '/a/%2e%2e/b'])(
    'with the path %p is refused before it is sent',
    async (path) => {
      const owner = await startOwner((_request, response) => response.end());
      expect(await failure(clientOf(owner.url), { method: 'GET', path })).toMatchObject({ name: 'TypeError' });
      expect(owner.requests).toEqual([]);
    },
  );
});

describe('a connection that breaks', () => {
  const breakFirst = (request: IncomingMessage, response: ServerResponse, count: number) =>
    count === 1 ? request.socket.resetAndDestroy() : response.end('ok');

  test('is retried once when the request may be repeated', async () => {
    const owner = await startOwner(breakFirst);
    const client = clientOf(owner.url);
    expect((await send(client, { method: 'GET', path: '/' })).body.toString()).toBe('ok');
    expect(owner.requests).toHaveLength(2);
  });

  test('is not retried when it may not', async () => {
    const owner = await startOwner(breakFirst);
    expect(await failure(clientOf(owner.url), { method: 'POST', path: '/' })).toBeInstanceOf(ServiceUnavailable);
    expect(owner.requests).toHaveLength(1);
  });

  test('is retried once for a POST that is declared repeatable', async () => {
    const owner = await startOwner(breakFirst);
    const client = clientOf(owner.url);
    expect((await send(client, { method: 'POST', path: '/', json: { a: 1 }, idempotent: true })).status).toBe(200);
    expect(owner.requests.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
  });

  test('is not retried twice', async () => {
    const owner = await startOwner((request) => request.socket.resetAndDestroy());
    expect(await failure(clientOf(owner.url), { method: 'GET', path: '/' })).toBeInstanceOf(ServiceUnavailable);
    expect(owner.requests).toHaveLength(2);
  });
});

describe('the breaker', () => {
  test('opens after repeated failures, sends nothing while open, and closes once the service is back', async () => {
    let broken = true;
    const owner = await startOwner((_request, response) => response.writeHead(broken ? 500 : 200).end());
    const client = clientOf(owner.url);
    for (let i = 0; i < 10; i += 1) await failure(client, { method: 'GET', path: '/' });
    const asked = owner.requests.length;
    const shed = await failure(client, { method: 'GET', path: '/' });
    expect(shed).toBeInstanceOf(ServiceUnavailable);
    expect((shed as Error).cause).toMatchObject({ code: 'EOPENBREAKER' });
    expect(owner.requests).toHaveLength(asked);
    expect((await client.metrics.render()).text).toContain(
      'http_client_breaker_open{client="payments",service="test"} 1',
    );

    broken = false;
    await eventually(() => send(client, { method: 'GET', path: '/' }));
    expect((await client.metrics.render()).text).toContain(
      'http_client_breaker_open{client="payments",service="test"} 0',
    );
  });

  test('stays closed for a 503 from the service itself, so that a problem with one merchant does not cut off the others', async () => {
    const owner = await startOwner(({ url }, response) => response.writeHead(url === '/healthy' ? 200 : 503).end());
    const client = clientOf(owner.url);
    for (let count = 0; count < 20; count += 1) {
      expect(await failure(client, { method: 'GET', path: '/troubled' })).toBeInstanceOf(ServiceUnavailable);
    }
    expect((await send(client, { method: 'GET', path: '/healthy' })).status).toBe(200);
  });

  test('stays closed for answers below 500', async () => {
    const owner = await startOwner((_request, response) => response.writeHead(409).end());
    const client = clientOf(owner.url);
    for (let i = 0; i < 30; i += 1) expect((await send(client, { method: 'POST', path: '/' })).status).toBe(409);
  });
});

describe('a call within a request', () => {
  const never = new AbortController().signal;

  test('states how long it waits: as long as any call, and no longer than the caller of the request', async () => {
    const owner = await startOwner((_request, response) => response.end('{}'));
    const client = clientOf(owner.url, 50_000);
    const ask = () => send(client, { method: 'GET', path: '/' });
    await ask();
    await withCaller(createCaller(600_000, never), ask);
    await withCaller(createCaller(20_000, never), ask);
    const waits = owner.requests.map(({ headers }) => Number(headers['x-timeout-ms']));
    for (const [position, most] of [50_000, 50_000, 20_000].entries()) {
      expect(waits[position]).toBeLessThanOrEqual(most);
      expect(waits[position]).toBeGreaterThan(0);
    }
    expect(waits[1]).toBeGreaterThan(20_000);
  });

  test('is given up when the caller of the request hangs up, and the service sees that', async () => {
    const hangUp = new AbortController();
    const { promise: closed, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
    const owner = await startOwner((_request, response) => {
      response.once('close', resolve);
      hangUp.abort();
    });
    const client = clientOf(owner.url);
    const caller = createCaller(Infinity, hangUp.signal);
    const error = await withCaller(caller, () => failure(client, { method: 'POST', path: '/' }));
    expect(error).toMatchObject({ status: 503, cause: { message: 'the caller has hung up' } });
    await closed;
  });

  test('that may change something is awaited beyond its deadline, and so is the request', async () => {
    const { promise: arrived, resolve } = Promise.withResolvers<ServerResponse>();
    const owner = await startOwner((_request, response) => resolve(response));
    const client = clientOf(owner.url, 200);
    const caller = createCaller(250, never);
    const startedAt = performance.now();
    const answer = withCaller(caller, () => send(client, { method: 'POST', path: '/' }));
    const response = await arrived;
    await eventually(() => expect(performance.now() - startedAt).toBeGreaterThan(500));
    response.writeHead(201).end('{}');
    expect((await answer).status).toBe(201);
    expect(caller.remainingMs()).toBeGreaterThan(0);
  });

  test('whose answer arrived by the deadline succeeds, even if this process had no time to read it', async () => {
    const { worker, url } = await ownerInThread();
    closing.push(() => void worker.terminate());
    const TIMEOUT_MS = 700;
    const client = clientOf(url, TIMEOUT_MS);
    await send(client, { method: 'POST', path: '/' });
    const answer = failure(client, { method: 'POST', path: '/' });
    const dueAt = performance.now() + TIMEOUT_MS;
    // Busy until shortly after the deadline, outside the timers phase: timers run next, and only then the socket is
    // read.
    const busy = () => {
      while (performance.now() < dueAt + 20);
    };
    setTimeout(() => setImmediate(busy), TIMEOUT_MS - 400);
    expect(await answer).toBeNull();
  });

  test('is not made for a caller who has hung up or has no time left, and opens no circuit', async () => {
    const owner = await startOwner((_request, response) => response.end('{}'));
    const client = clientOf(owner.url);
    for (const caller of [createCaller(0, never), createCaller(Infinity, AbortSignal.abort())]) {
      for (let count = 0; count < 12; count += 1) {
        const error = await withCaller(caller, () => failure(client, { method: 'GET', path: '/' }));
        expect(error).toBeInstanceOf(ServiceUnavailable);
      }
    }
    expect(owner.requests).toEqual([]);
    expect((await send(client, { method: 'GET', path: '/' })).status).toBe(200);
  });
});

test('calls are measured by client, method and status', async () => {
  const owner = await startOwner((_request, response, count) => response.writeHead(count === 1 ? 200 : 500).end());
  const client = clientOf(owner.url);
  await send(client, { method: 'GET', path: '/' });
  await failure(client, { method: 'GET', path: '/' });
  owner.server.close().closeAllConnections();
  await failure(client, { method: 'GET', path: '/' });
  const { text } = await client.metrics.render();
  for (const status of ['200', '500', 'error']) {
    const count = `http_client_request_duration_seconds_count\\{.*client="payments",method="GET",status="${status}"\\} 1`;
    expect(text).toMatch(new RegExp(count));
  }
});

describe('a declared call', () => {
  const Accept = defineCall(
    'payments',
    'POST /payments/:payment_id/transfers/:position',
    json<{ height: number }>({
      type: 'object',
      required: ['height'],
      properties: { height: { type: 'integer' } },
    }),
    {
      query: { before: query.timestamp, limit: query.integer(1, 9) },
      authored: true,
      body: object<{ position: number }>({ position: { type: 'integer' } }),
      status: 201,
    },
  );
  const input = {
    params: { payment_id: 'pay/1', position: '2' },
    query: { limit: 3, before: undefined },
    body: { position: 2 },
    author: { actor: 'olga', reason: 'agreed' },
  };
  const answering = (status: number, body: string) =>
    startOwner((_request, response) => void response.writeHead(status).end(body));

  test('becomes a request with encoded parameters and one body, and returns the checked answer', async () => {
    const owner = await answering(201, '{"height":7}');
    expect(await clientOf(owner.url).call(Accept, input)).toEqual({ height: 7 });
    expect(owner.requests).toMatchObject([
      { method: 'POST', url: '/internal/v1/payments/pay%2F1/transfers/2?limit=3' },
    ]);
    expect(JSON.parse(owner.requests[0]!.body)).toEqual({ position: 2, actor: 'olga', reason: 'agreed' });
  });

  test.each([
    [200, '{"height":7}'],
    [201, '{"height":"7"}'],
    [201, 'no JSON'],
    [404, '{}'],
    [422, '{}'],
  ])('is unavailable when the answer is %d with %s', async (status, body) => {
    const client = clientOf((await answering(status, body)).url);
    await expect(client.call(Accept, input)).rejects.toBeInstanceOf(ServiceUnavailable);
  });

  test('finds nothing when the answer is 404, and is unavailable for other refusals', async () => {
    expect(await clientOf((await answering(404, '{}')).url).find(Accept, input)).toBeNull();
    await expect(clientOf((await answering(409, '{}')).url).find(Accept, input)).rejects.toThrow(ServiceUnavailable);
  });

  test('can be sent for the unchanged answer', async () => {
    const answer = await clientOf((await answering(409, '{ }')).url).send(Accept, input);
    expect({ status: answer.status, body: answer.body.toString() }).toEqual({ status: 409, body: '{ }' });
  });
});
