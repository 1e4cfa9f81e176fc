import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { internal, testGateway, type Merchant, type TestGateway } from './gateway.ts';

let gateway: TestGateway;
let merchant: Merchant;

beforeAll(async () => {
  gateway = await testGateway();
  merchant = await gateway.merchant();
});
afterAll(() => gateway.close());

const path = '/api/v1/merchant/profile';
const headers = () => ({ 'X-API-Key': merchant.api_key });
const put = (body: object) => gateway.call('PUT', path, { headers: headers(), body });
const get = async () => (await gateway.call('GET', path, { headers: headers() })).json();
const operate = (method: string, below: string, body?: object) =>
  gateway.call(method, `/internal/v1/merchants${below}`, { headers: internal, ...(body !== undefined && { body }) });

describe('the profile', () => {
  test('has no name at first; a name is stored in NFC, and null removes it', async () => {
    expect(await get()).toEqual({ display_name: null });
    expect(await put({ display_name: 'Cafe\u0301 Zentral' })).toMatchObject({
      status: 200,
      text: '{"display_name":"Café Zentral"}',
    });
    expect(await get()).toEqual({ display_name: 'Café Zentral' });
    expect(await put({ display_name: null })).toMatchObject({ status: 200, text: '{"display_name":null}' });
    expect(await get()).toEqual({ display_name: null });
  });

  test.each([
    ['empty', ''],
    ['of 61 characters', 'x'.repeat(61)],
    ['with a line break', 'a\nb'],
    ['that turns the direction of writing', 'a\u202eb'],
    ['that shows nothing', ' \u200d '],
    ['of a letter that shows nothing', '\u3164'],
    ['of a symbol that shows nothing', '\u2800\u2800'],
    ['in broken Unicode', 'a\ud800'],
    ['that is a number', 7],
  ])('refuses a name %s', async (_what, name) => {
    const answer = await put({ display_name: name });
    expect([answer.status, answer.json()['code'], answer.json()['detail']]).toEqual([
      422,
      'invalid_request',
      [{ field: 'display_name', reason: expect.any(String) }],
    ]);
  });

  test('refuses a body without the name, and unknown fields; neither is counted', async () => {
    const fields = async (body: object) =>
      ((await put(body)).json()['detail'] as { field: string }[]).map(({ field }) => field);
    expect(await fields({})).toEqual(['display_name']);
    expect(await fields({ display_name: 'x', name: 'y' })).toEqual(['name']);
  });

  test('accepts sixty characters of any kind, and returns them as text', async () => {
    const names = ['€'.repeat(60), '🍕'.repeat(60), '<script>alert(1)</script>', 'مقهى', 'a"b\\c'];
    for (const name of names) expect((await put({ display_name: name })).json()).toEqual({ display_name: name });
  });

  test('can be set by an operator too, is shown in the account, and every change is audited', async () => {
    const { merchant_id: id } = merchant;
    const author = { actor: 'olga', reason: 'asked by phone' };
    expect(await operate('POST', `/${id}/profile`, { ...author, display_name: 'Corner Shop' })).toMatchObject({
      status: 200,
      text: '{"display_name":"Corner Shop"}',
    });
    expect((await operate('POST', `/${id}/profile`, { ...author, display_name: 'a\tb' })).status).toBe(422);
    expect((await operate('POST', `/${newId('mer')}/profile`, { ...author, display_name: 'x' })).status).toBe(404);
    expect((await operate('GET', `/${id}`)).json()).toMatchObject({ display_name: 'Corner Shop' });
    const [last, before] = (await operate('GET', `/${id}/audit`)).json()['entries'] as object[];
    expect(last).toMatchObject({ ...author, action: 'set_profile', after: { display_name: 'Corner Shop' } });
    expect(before).toMatchObject({ actor: 'merchant', action: 'set_profile' });
  });

  test('counts towards the limit of webhook settings when set, and of shared reads when read', async () => {
    merchant = await gateway.merchant();
    await put({ display_name: 'a' });
    await get();
    const { rows } = await gateway.pool.query<{ scope: string; count: number }>(
      'select scope, count from rate_limit_window where subject = $1 order by scope',
      [merchant.merchant_id],
    );
    expect(rows).toEqual([
      { scope: 'shared_reads', count: 1 },
      { scope: 'webhook_settings', count: 1 },
    ]);
  });

  test('finds merchants by a part of the name or the display name', async () => {
    const { merchant_id: id } = merchant;
    await put({ display_name: 'Bäckerei 100 % Brot' });
    const found = async (name: string) =>
      (
        (await operate('GET', `?name=${encodeURIComponent(name)}`)).json()['merchants'] as { merchant_id: string }[]
      ).map((each) => each.merchant_id);
    expect(await found('100 % b')).toEqual([id]);
    expect(await found('sHo')).toContain(id);
    expect(await found('_')).toEqual([]);
  });
});
