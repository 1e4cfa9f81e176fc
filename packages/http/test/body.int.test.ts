import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { eventually } from '@quittance/testkit/eventually.ts';

import { readJson } from '../src/server/body.ts';
import { RequestAborted } from '../src/errors.ts';
import { rawClient, startServer, type TestServer } from './server-fixture.ts';

const LIMIT = 1024;
let server: TestServer;
const aborted: unknown[] = [];

beforeAll(async () => {
  server = await startServer({
    routes: [
      {
        method: 'POST',
        path: '/bytes',
        handle: async (request) => {
          const { bytes, tooLarge } = await request.readBody(LIMIT).catch((error: unknown) => {
            aborted.push(error);
            throw error;
          });
          return { status: tooLarge ? 413 : 200, body: { length: bytes.length } };
        },
      },
      {
        method: 'POST',
        path: '/json',
        handle: async (request) => ({ status: 200, body: await readJson(request, LIMIT, (value) => value) }),
      },
      { method: 'POST', path: '/unread', handle: () => ({ status: 401, body: { detail: 'no' } }) },
    ],
  });
});
afterAll(() => server.stop());

const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const head = (path: string, ...headers: string[]) =>
  [`POST ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');

describe('reading a body', () => {
  test.each([0, 1, LIMIT - 1, LIMIT])('%i bytes are read, with a length or chunked', async (length) => {
    const text = 'x'.repeat(length);
    const client = await rawClient(server.port);
    client.send(head('/bytes', `Content-Length: ${length}`) + text);
    await client.received(new RegExp(`200 OK[\\s\\S]*"length":${length}}`));
    client.send(head('/bytes', 'Transfer-Encoding: chunked') + (length > 0 ? chunked(text) : '') + chunked(''));
    await client.received(new RegExp(`("length":${length}}[\\s\\S]*){2}`));
    client.socket.destroy();
  });

  test('one byte too many is too large, and the connection stays usable', async () => {
    const text = 'x'.repeat(LIMIT + 1);
    const client = await rawClient(server.port);
    client.send(head('/bytes', `Content-Length: ${LIMIT + 1}`) + text);
    await client.received(/413/);
    client.send(head('/bytes', 'Transfer-Encoding: chunked') + chunked(text) + chunked(''));
    await client.received(/(413[\s\S]*){2}/);
    client.send(head('/bytes', 'Content-Length: 2') + 'ok');
    await client.received(/"length":2}/);
    client.socket.destroy();
  });

  test('a client that still sends a too large body gets its answer, and can reuse the connection', async () => {
    const client = await rawClient(server.port);
    client.send(head('/bytes', 'Transfer-Encoding: chunked') + chunked('x'.repeat(LIMIT + 1)));
    await client.received(/413/);
    for (let i = 0; i < 50; i += 1) client.send(chunked('x'.repeat(10_000)));
    client.send(chunked('') + head('/bytes', 'Content-Length: 2') + 'ok');
    await client.received(/"length":2}/);
    client.socket.destroy();
  });

  test('an unread body does not break the connection', async () => {
    const client = await rawClient(server.port);
    client.send(head('/unread', 'Content-Length: 500000') + 'x'.repeat(500_000));
    client.send(head('/bytes', 'Content-Length: 2') + 'ok');
    await client.received(/401[\s\S]*"length":2}/);
    client.socket.destroy();
  });

  test('a client that never ends an unread body is cut off', async () => {
    const client = await rawClient(server.port);
    client.send(head('/unread', 'Content-Length: 500000') + 'x');
    expect(await client.ended).toMatch(/^HTTP\/1.1 401/);
  });

  test('reading ends when the client leaves before the end', async () => {
    const before = aborted.length;
    const client = await rawClient(server.port);
    client.send(head('/bytes', 'Content-Length: 100') + 'half of it');
    client.socket.resetAndDestroy();
    await eventually(() => expect(aborted.slice(before)).toEqual([expect.any(RequestAborted)]));
  });

  test('a body that is both chunked and has a length is refused before any route', async () => {
    const client = await rawClient(server.port);
    client.send(head('/bytes', 'Content-Length: 2', 'Transfer-Encoding: chunked') + chunked('ok') + chunked(''));
    expect(await client.ended).toMatch(/^HTTP\/1.1 400/);
  });
});

describe('reading JSON', () => {
  const post = (body: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    fetch(`${server.url}/json`, { method: 'POST', body, headers });

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
    'an object sent as %s is read',
    async (type) => {
      const response = await post('{"a":"é"}', { 'content-type': type });
      expect(await response.json()).toEqual({ a: 'é' });
    },
  );

  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['half an object', '{"a":'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a list', '[]'],
    ['null', 'null'],
    ['a string', '"x"'],
    ['a hundred brackets', '['.repeat(100)],
  ])('%s is 422 on the field body', async (_what, body) => {
    const response = await post(body);
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual({
      detail: [{ field: 'body', reason: expect.any(String) }],
      code: 'invalid_request',
    });
  });

  test.each([{ 'content-type': 'text/plain' }, {}, { 'content-type': 'application/json', 'content-encoding': 'gzip' }])(
    '%p is 422 on the field body',
    async (headers) => {
      const response = await post('{}', headers);
      expect([response.status, await response.json()]).toEqual([
        422,
        { detail: [{ field: 'body', reason: expect.any(String) }], code: 'invalid_request' },
      ]);
    },
  );

  test('a body that is too large is 413, whatever it contains', async () => {
    const response = await post('x'.repeat(LIMIT + 1));
    expect([response.status, await response.json()]).toEqual([
      413,
      { detail: 'Request body exceeds 1 KiB', code: 'body_too_large' },
    ]);
  });

  test('__proto__ is an ordinary name', async () => {
    expect(await (await post('{"__proto__":{"admin":true}}')).text()).toBe('{"__proto__":{"admin":true}}');
  });
});
