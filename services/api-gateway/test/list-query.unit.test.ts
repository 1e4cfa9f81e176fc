import { describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { writeCursor } from '@quittance/contracts/payment-cursor.ts';
import fc from 'fast-check';
import { readListQuery, readPageQuery } from '../src/validation/list-query.ts';
import { refusedFields } from './fake-request.ts';

const page = (query: string) => readPageQuery(new URLSearchParams(query));

describe('the plain list', () => {
  test('asks for at most 100 and knows only status', () => {
    expect(readListQuery(new URLSearchParams('status=PAID&limit=x&X-API-Key=qk'))).toEqual({
      limit: 100,
      status: 'PAID',
    });
  });

  test.each(['status=', 'status=paid', 'status=PAID&status=PAID'])('refuses ?%s', async (query) => {
    const items = await refusedFields(() => readListQuery(new URLSearchParams(query)));
    expect(items.map(({ field }) => field)).toEqual(['status']);
  });
});

describe('the page', () => {
  test('has 20 payments by default', () => {
    expect(page('')).toEqual({ limit: 20 });
    const cursor = writeCursor({ createdAt: new Date(0), paymentId: newId('pay') });
    expect(page(`limit=100&cursor=${cursor}`)).toEqual({ limit: 100, cursor });
  });

  test('passes times on in UTC with milliseconds', () => {
    expect(page('created_from=2026-01-31T09:00:00%2B02:00&created_to=2026-02-01T00:00:00.1239Z')).toMatchObject({
      created_from: '2026-01-31T07:00:00.000Z',
      created_to: '2026-02-01T00:00:00.123Z',
    });
  });

  test('names every bad parameter at once', async () => {
    const items = await refusedFields(() => page('limit=0&cursor=%00&status=x&created_from=now&created_to=1'));
    expect(items.map(({ field }) => field).sort()).toEqual(['created_from', 'created_to', 'cursor', 'limit', 'status']);
  });

  test.each([
    'limit=',
    'limit=101',
    'limit=020',
    'limit=1e1',
    'limit=-1',
    'limit=%EF%BC%91',
    'cursor=',
    `cursor=${'a'.repeat(513)}`,
    'cursor=abc_-9',
  ])('refuses ?%s', async (query) => {
    await refusedFields(() => page(query));
  });

  test.each([
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '1760000000',
  ])('refuses the time %s', async (time) => {
    const query = new URLSearchParams({ created_from: time });
    await refusedFields(() => readPageQuery(query));
  });

  test('for any text the answer is a value or a 422', async () => {
    const names = ['status', 'limit', 'cursor', 'created_from', 'created_to'];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.string({ unit: 'binary' }), async (name, text) => {
        const query = new URLSearchParams([[name, text]]);
        try {
          readPageQuery(query);
        } catch {
          await refusedFields(() => readPageQuery(query));
        }
      }),
    );
  });
});
