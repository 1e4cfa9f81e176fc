import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { WALLET } from '@quittance/testkit/sample-networks.ts';
import { internal, testGateway, type Merchant, type TestGateway } from './gateway.ts';

let gateway: TestGateway;
let merchant: Merchant;

beforeAll(async () => {
  gateway = await testGateway();
  merchant = await gateway.merchant();
  const payments = `/internal/v1/merchants/${merchant.merchant_id}/payments`;
  gateway.payments.answers.set(`GET ${payments}`, { status: 200, body: { payments: [], next_cursor: null } });
  gateway.payments.answers.set(`POST ${payments}`, { status: 201, body: '{"payment_id":"pay_1"}' });
});
afterAll(() => gateway.close());

const author = { actor: 'olga', reason: 'a second server' };
const keys = (method: string, path = '', body?: object, merchantId = merchant.merchant_id) =>
  gateway.call(method, `/internal/v1/merchants/${merchantId}/api-keys${path}`, {
    headers: internal,
    ...(body !== undefined && { body: { ...author, ...body } }),
  });
const add = async (name: string, scope = 'all') => String((await keys('POST', '', { name, scope })).json()['api_key']);
const list = async (key: string) =>
  (await gateway.call('GET', '/api/v1/payments', { headers: { 'X-API-Key': key } })).status;
const create = async (key: string) => {
  const headers = { 'X-API-Key': key, 'Idempotency-Key': 'order-1' };
  const body = { amount: '1', merchant_wallet: WALLET, description: 'Order 1' };
  return (await gateway.call('POST', '/api/v1/payments', { headers, body })).status;
};

describe('an additional API key', () => {
  test('with the scope all can do everything the first one can, until it is revoked', async () => {
    const key = await add('web');
    expect([await list(key), await create(key)]).toEqual([200, 201]);
    expect(await keys('POST', '/revoke', { name: 'web' })).toMatchObject({ status: 200 });
    expect([await list(key), await create(key)]).toEqual([401, 401]);
    expect(await list(merchant.api_key)).toBe(200);
  });

  test('with the scope read can read, and gets an uncounted 401 for everything else', async () => {
    const key = await add('reports', 'read');
    expect([await list(key), await create(key)]).toEqual([200, 401]);
    const { rows } = await gateway.pool.query<{ scope: string }>(
      'select scope from rate_limit_window where subject = $1 and count > 1',
      [merchant.merchant_id],
    );
    expect(rows).toEqual([{ scope: 'shared_reads' }]);
  });

  test('stays active when the first one is rotated', async () => {
    const key = await add('app');
    const secret = { headers: { 'secret-key': merchant.rotation_secret } };
    const rotated = await gateway.call('POST', '/api/v1/merchant/rotate-key', secret);
    const { new_api_key: first } = rotated.json() as { new_api_key: string };
    expect([await list(merchant.api_key), await list(first), await list(key)]).toEqual([401, 200, 200]);
    merchant.api_key = first;
  });

  test('is listed with its name, scope and times, after the first one, and is only stored as a hash', async () => {
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
    const key = await add('listed');
    expect((await keys('GET')).json()).toEqual({
      merchant_id: merchant.merchant_id,
      keys: [
        { name: 'first', scope: 'all', created_at: time, revoked_at: null },
        { name: 'reports', scope: 'read', created_at: time, revoked_at: null },
        { name: 'app', scope: 'all', created_at: time, revoked_at: null },
        { name: 'listed', scope: 'all', created_at: time, revoked_at: null },
        { name: 'web', scope: 'all', created_at: time, revoked_at: time },
      ],
    });
    const { rows } = await gateway.pool.query<{ row: string }>('select k::text as row from additional_api_key k');
    expect(rows.map(({ row }) => row).join()).not.toContain(key.slice(3));
    expect(gateway.logs()).not.toContain(key);
  });

  test('and its revocation are audited with actor and reason', async () => {
    const answer = await gateway.call('GET', `/internal/v1/merchants/${merchant.merchant_id}/audit`, {
      headers: internal,
    });
    const entries = answer.json()['entries'] as { action: string }[];
    expect(entries.find(({ action }) => action === 'revoke_api_key')).toMatchObject({
      ...author,
      before: { name: 'web', scope: 'all' },
      after: {},
    });
    expect(entries.filter(({ action }) => action === 'add_api_key')).toHaveLength(4);
  });

  test('is 409 for a name in use and above twenty keys, also for concurrent additions', async () => {
    expect((await keys('POST', '', { name: 'reports', scope: 'all' })).status).toBe(409);
    expect((await keys('POST', '', { name: 'first', scope: 'all' })).status).toBe(409);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => insist(() => keys('POST', '', { name: `key ${n}`, scope: 'all' }))),
    );
    // The first key, three from above, and enough for twenty.
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(16);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
  });

  test.each([
    ['another scope', { name: 'x', scope: 'write' }, ['scope']],
    ['no name', { scope: 'all' }, ['name']],
    ['an empty name', { name: '', scope: 'all' }, ['name']],
    ['a name that shows nothing', { name: '\u115f\u2800', scope: 'all' }, ['name']],
  ])('with %s is 422', async (_what, body, fields) => {
    const answer = await keys('POST', '', body);
    expect([answer.status, (answer.json()['detail'] as { field: string }[]).map(({ field }) => field)]).toEqual([
      422,
      fields,
    ]);
  });

  test('of an unknown merchant, or with an unknown name, is 404; the first is not revoked', async () => {
    expect((await keys('POST', '', { name: 'x', scope: 'all' }, newId('mer'))).status).toBe(404);
    expect((await keys('GET', '', undefined, newId('mer'))).status).toBe(404);
    expect((await keys('POST', '/revoke', { name: 'nobody' })).status).toBe(404);
    expect((await keys('POST', '/revoke', { name: 'web' })).status).toBe(404);
    expect((await keys('POST', '/revoke', { name: 'first' })).status).toBe(409);
    expect(await list(merchant.api_key)).toBe(200);
  });
});
