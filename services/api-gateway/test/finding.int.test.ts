import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { insist } from '@quittance/testkit/insist.ts';
import { testGateway, type Merchant, type TestGateway } from './gateway.ts';

let gateway: TestGateway;
let merchant: Merchant;

beforeAll(async () => {
  gateway = await testGateway();
  merchant = await gateway.merchant();
});
afterAll(() => gateway.close());

const answers = (path: string, answer: { status: number; body: unknown; headers?: Record<string, string> }) =>
  gateway.payments.answers.set(`GET /internal/v1/merchants/${merchant.merchant_id}${path}`, answer);
const get = (path: string) => gateway.call('GET', `/api/v1${path}`, { headers: { 'X-API-Key': merchant.api_key } });

test('an export is forwarded unchanged, with a file name', async () => {
  answers('/payments/export', { status: 200, body: 'a,b\r\n', headers: { 'content-type': 'text/csv; charset=utf-8' } });
  const answer = await insist(() => get('/payments/export'));
  expect([answer.status, answer.text]).toEqual([200, 'a,b\r\n']);
  expect(answer.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="payments.csv"',
    'cache-control': 'no-store',
  });
});

test('an export has a byte order mark if the merchant asks for one, and other values are refused', async () => {
  answers('/payments/export', { status: 200, body: '\ufeffa,b\r\n', headers: { 'content-type': 'text/csv' } });
  const answer = await insist(() => get('/payments/export?bom=1'));
  expect([answer.status, answer.text]).toEqual([200, '\ufeffa,b\r\n']);
  expect(new URLSearchParams(gateway.payments.received.at(-1)!.query).get('bom')).toBe('1');
  const refused = await get('/payments/export?bom=yes');
  expect([refused.status, refused.json()['detail']]).toEqual([422, [{ field: 'bom', reason: 'must be 0 or 1' }]]);
});

test.each([
  [429, 429],
  [404, 503],
  [500, 503],
])('if payments answers an export with %i, the gateway answers %i', async (status, expected) => {
  answers('/payments/export', { status, body: { detail: 'internal words' }, headers: { 'retry-after': '7' } });
  const answer = await get('/payments/export');
  expect([answer.status, answer.text.includes('internal')]).toEqual([expected, false]);
  expect(answer.headers['retry-after']).toBe(expected === 429 ? '7' : undefined);
});

test('a report is forwarded unchanged', async () => {
  const day = '/merchant/report?from=2026-01-01&to=2026-01-01';
  answers('/report', { status: 200, body: '{"rows": []}' });
  expect([(await get(day)).status, (await get(day)).text]).toEqual([200, '{"rows": []}']);
});
