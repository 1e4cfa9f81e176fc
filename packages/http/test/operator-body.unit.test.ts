import { describe, expect, test } from '@jest/globals';
import { operatorBody } from '../src/server/operator-body.ts';
import type { RouteRequest } from '../src/server/route.ts';

const read = operatorBody<{ days: number }>({ days: { type: 'integer', minimum: 1 } }, ['days']);
const author = { actor: 'olga', reason: 'agreed by phone' };

/** A request with this body, as far as the reader looks. */
function requestWith(body: object): RouteRequest {
  const bytes = Buffer.from(JSON.stringify(body));
  const readBody = async (maxBytes: number) => ({ bytes, tooLarge: bytes.length > maxBytes });
  return {
    method: 'POST',
    path: '/',
    params: {},
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json' },
    rawHeaders: [],
    requestId: 'test',
    readBody,
  };
}

describe("an operator's body", () => {
  test('is handed on as the author and the fields', async () => {
    expect(await read(requestWith({ ...author, days: 7 }))).toEqual({ author, fields: { days: 7 } });
  });

  test('may have the longest author that is allowed, whatever its characters take', async () => {
    const longest = { actor: '😀'.repeat(200), reason: '\u0001'.repeat(1000) };
    expect(await read(requestWith({ ...longest, days: 7 }))).toMatchObject({ author: longest });
  });

  test.each([
    ['actor', { ...author, actor: '' }],
    ['actor', { ...author, actor: 'a'.repeat(201) }],
    ['reason', { ...author, reason: 'a'.repeat(1001) }],
    ['reason', { ...author, reason: 'a\u0000b' }],
    ['reason', { ...author, reason: 'a\ud800b' }],
    ['reason', { actor: 'olga' }],
    ['note', { ...author, note: 'unknown' }],
  ])('is refused when %s is wrong, missing or unknown', async (field, body) => {
    const refused = { status: 422, detail: [{ field, reason: expect.any(String) }] };
    await expect(read(requestWith({ ...body, days: 7 }))).rejects.toMatchObject(refused);
  });

  test('is told every problem at once', async () => {
    await expect(read(requestWith({ days: 0 }))).rejects.toMatchObject({
      detail: [{ field: 'actor' }, { field: 'reason' }, { field: 'days' }],
    });
  });
});
