import { describe, expect, test } from '@jest/globals';
import { defineCall, json, object } from '@quittance/contracts/call.ts';
import { query } from '@quittance/contracts/query.ts';
import { callReader, callRoute } from '../src/server/call-route.ts';
import type { RouteRequest } from '../src/server/route.ts';

const Extend = defineCall('quota', 'POST /merchants/:merchant_id/extend', json<{ days: number }>(), {
  authored: true,
  body: object<{ days: number }>({ days: { type: 'integer', minimum: 1 } }),
});
const Search = defineCall('chain-watcher', 'POST /search', json<string>(), {
  body: object<{ windows: { from: string }[]; note?: string }>(
    {
      windows: {
        type: 'array',
        items: { type: 'object', required: ['from'], properties: { from: { type: 'string' } } },
      },
      note: { type: 'string' },
    },
    { optional: ['note'] },
  ),
});
const List = defineCall('payments', 'GET /incidents', json<string[]>(), {
  query: {
    status: query.oneOf('open', 'all'),
    before: query.timestamp,
    day: query.day,
    after: query.id('evt', 'an event'),
    limit: query.integer(1, 100),
  },
});

const author = { actor: 'olga', reason: 'agreed by phone' };

const requestWith = ({ body, search = '' }: { body?: object; search?: string }): RouteRequest => {
  const bytes = Buffer.from(JSON.stringify(body ?? {}));
  return {
    method: 'POST',
    path: '/',
    params: { merchant_id: 'mer_1' },
    query: new URLSearchParams(search),
    headers: { 'content-type': 'application/json' },
    rawHeaders: [],
    requestId: 'test',
    remoteAddress: '127.0.0.1',
    principal: null,
    readBody: async (maxBytes) => ({ bytes, tooLarge: bytes.length > maxBytes }),
  };
};

describe("the body of an operator's call", () => {
  const read = callReader(Extend);

  test('is passed on as the author and the fields', async () => {
    const { params, author: who, body } = await read(requestWith({ body: { ...author, days: 7 } }));
    expect({ params, who, body }).toEqual({ params: { merchant_id: 'mer_1' }, who: author, body: { days: 7 } });
  });

  test('may have the longest author allowed, however many bytes its characters take', async () => {
    const longest = { actor: '😀'.repeat(200), reason: '\u0001'.repeat(1000) };
    expect(await read(requestWith({ body: { ...longest, days: 7 } }))).toMatchObject({ author: longest });
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
    await expect(read(requestWith({ body: { ...body, days: 7 } }))).rejects.toMatchObject(refused);
  });

  test('is refused with every problem at once', async () => {
    await expect(read(requestWith({ body: { days: 0 } }))).rejects.toMatchObject({
      detail: [{ field: 'actor' }, { field: 'reason' }, { field: 'days' }],
    });
  });
});

describe('the body of a call between services', () => {
  const read = callReader(Search);

  test('may have fields from a newer release', async () => {
    const body = { windows: [{ from: 'now', added_later: true }], added_later: 1 };
    expect(await read(requestWith({ body }))).toMatchObject({ body });
  });

  test('is refused with the place of the problem', async () => {
    await expect(read(requestWith({ body: { windows: [{ from: 'now' }, {}], note: 1 } }))).rejects.toMatchObject({
      status: 422,
      detail: [{ field: 'windows[1].from' }, { field: 'note' }],
    });
  });
});

describe('the query of a call', () => {
  const read = callReader(List);

  test('is passed on as values, null for each absent parameter', async () => {
    const search = `status=all&before=2026-01-31T12:00:00Z&day=2026-01-31&limit=100`;
    expect((await read(requestWith({ search }))).query).toEqual({
      ...{ status: 'all', before: new Date('2026-01-31T12:00:00Z'), day: new Date('2026-01-31'), after: null },
      limit: 100,
    });
  });

  test.each(['status=closed', 'before=soon', 'day=2026-02-30', 'after=mer_1', 'limit=0', 'limit=101', 'limit=1e1'])(
    'is refused for %s, with the name of the parameter',
    async (search) => {
      const field = search.split('=')[0];
      await expect(read(requestWith({ search }))).rejects.toMatchObject({ status: 422, detail: [{ field }] });
    },
  );
});

test('the route of a call answers with its status', async () => {
  const created = callRoute({ ...Extend, status: 201 }, ({ body }) => ({ days: body.days + 1 }));
  expect(created).toMatchObject({ method: 'POST', path: '/internal/v1/merchants/:merchant_id/extend' });
  const reply = await created.handle(requestWith({ body: { ...author, days: 7 } }));
  expect(reply).toEqual({ status: 201, body: { days: 8 } });
});
