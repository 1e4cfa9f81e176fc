import { describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { writeCursor } from '@quittance/contracts/http/payments/payments.ts';
import { anyText } from '@quittance/testkit/any-text.ts';
import fc from 'fast-check';
import { listQueries, readExportQuery, readReportQuery } from '../src/payments/list-query.ts';
import { refusedFields } from './fake-request.ts';

const networks = [
  { id: 'local', family: 'evm' },
  { id: 'tron', family: 'tron' },
] as Network[];
const { list: readListQuery, page: readPageQuery } = listQueries(networks);
const page = (query: string) => readPageQuery(new URLSearchParams(query));

describe('the plain list', () => {
  test('has at most 100 payments and ignores the parameters of pages', () => {
    expect(readListQuery(new URLSearchParams('status=PAID&limit=x&cursor=x&created_from=x&X-API-Key=qk'))).toEqual({
      limit: 100,
      status: 'PAID',
    });
  });

  test.each(['status=paid', 'status=PAID&status=PAID'])('refuses ?%s', async (query) => {
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

  test('sends times in UTC with milliseconds', () => {
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
    'limit=101',
    'limit=020',
    'limit=1e1',
    'limit=-1',
    'limit=%EF%BC%91',
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
    const names = ['status', 'limit', 'cursor', 'created_from', 'paid_to', 'reference', 'transaction_id', 'order_id'];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), anyText, async (name, text) => {
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

const transactionId = 'ab'.repeat(32);
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';

describe('the filters of both', () => {
  test('are sent in their canonical form', () => {
    const query = {
      order_id: 'A 1/2 é',
      reference: 'oil1-ab'.replace('-', '2K'),
      transaction_id: `0x${transactionId.toUpperCase()}`,
      merchant_wallet: wallet.toLowerCase(),
      network: 'tron',
      paid_from: '2026-01-31T09:00:00+02:00',
      paid_to: '2026-02-01T00:00:00Z',
    };
    const passedOn = {
      ...query,
      transaction_id: transactionId,
      merchant_wallet: wallet,
      paid_from: '2026-01-31T07:00:00.000Z',
      paid_to: '2026-02-01T00:00:00.000Z',
    };
    expect(page(new URLSearchParams(query).toString())).toEqual({ limit: 20, ...passedOn });
    expect(readListQuery(new URLSearchParams(query))).toEqual({ limit: 100, ...passedOn });
  });

  test.each([
    ['order_id', 'a'.repeat(129)],
    ['order_id', 'tea\n'],
    ['order_id', 'te\u00ada'],
    ['reference', 'ABCDEFG'],
    ['reference', 'ABCDEFGU'],
    ['transaction_id', transactionId.slice(1)],
    ['transaction_id', `0x0x${transactionId}`],
    ['merchant_wallet', wallet.slice(1)],
    ['merchant_wallet', wallet.replace('E', 'e')],
    ['network', 'mainnet'],
    ['paid_from', '2026-01-31'],
    ['paid_to', 'now'],
  ])('refuse %s %p', async (name, text) => {
    for (const read of [readListQuery, readPageQuery]) {
      const items = await refusedFields(() => read(new URLSearchParams([[name, text]])));
      expect(items.map(({ field }) => field)).toEqual([name]);
    }
  });
});

describe('the export', () => {
  const clock = () => new Date('2026-11-23T12:00:00Z');
  const read = (query: string) => readExportQuery(new URLSearchParams(query), clock);

  test('covers the last 366 days by default', () => {
    expect(read('')).toEqual({ created_from: '2025-11-22T12:00:00.000Z' });
    expect(read('created_to=2026-01-02T00:00:00Z&status=PAID&format=ndjson')).toEqual({
      created_from: '2025-01-01T00:00:00.000Z',
      created_to: '2026-01-02T00:00:00.000Z',
      status: 'PAID',
      format: 'ndjson',
    });
  });

  test('covers at most 366 days', async () => {
    expect(read('created_from=2025-11-22T12:00:00Z')).toEqual({ created_from: '2025-11-22T12:00:00.000Z' });
    for (const query of [
      'created_from=2025-11-22T11:59:59Z',
      'created_from=2025-01-01T00:00:00Z&created_to=2026-01-02T00:00:01Z',
    ]) {
      expect(await refusedFields(() => read(query))).toMatchObject([{ field: 'created_from' }]);
    }
  });

  test.each(['format=xlsx', 'status=x', 'created_to=now'])('refuses ?%s', async (query) => {
    const items = await refusedFields(() => read(query));
    expect(items.map(({ field }) => field)).toEqual([query.split('=')[0]]);
  });
});

describe('the report', () => {
  const read = (query: string) => readReportQuery(new URLSearchParams(query));

  test('has 400 periods at most', async () => {
    expect(read('from=2026-01-01&to=2027-02-04')).toEqual({ from: '2026-01-01', to: '2027-02-04' });
    expect(read('from=2000-05-31&to=2033-08-01&group=month')).toMatchObject({ group: 'month' });
    for (const query of ['from=2026-01-01&to=2027-02-05', 'from=2000-05-31&to=2033-09-01&group=month'])
      expect(await refusedFields(() => read(query))).toMatchObject([{ field: 'to' }]);
  });

  test.each(['payment', 'chain'])('accepts by=%s', (by) => {
    expect(read(`from=2026-01-01&to=2026-01-02&by=${by}`)).toEqual({ from: '2026-01-01', to: '2026-01-02', by });
  });

  test.each([
    ['', ['from', 'to']],
    ['from=2026-01-01', ['to']],
    ['from=2026-02-30&to=x&group=week', ['from', 'group', 'to']],
    ['from=2026-01-01&to=2026-01-02&by=block', ['by']],
    ['from=2026-01-01&to=2026-01-02&by=chain&by=chain', ['by']],
    ['from=2026-01-02&to=2026-01-01', ['to']],
    ['from=2026-01-01T00:00:00Z&to=2026-01-02', ['from']],
  ])('refuses ?%s', async (query, fields) => {
    const items = await refusedFields(() => read(query));
    expect(items.map(({ field }) => field).sort()).toEqual(fields);
  });
});
