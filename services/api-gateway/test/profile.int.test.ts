import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { newId } from '@quittance/contracts/ids.ts';
import { internal, testGateway, type Merchant, type TestGateway } from './gateway.ts';
import { squarePng } from './png.ts';

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

const unset = {
  ...{ display_name: null, logo: null, accent_color: null },
  ...{ support_url: null, support_email: null, embed_origins: null },
};

describe('the profile', () => {
  test('is empty at first; a name is stored in NFC, and null removes it', async () => {
    expect(await get()).toEqual(unset);
    const named = { ...unset, display_name: 'Café Zentral' };
    expect((await put({ display_name: 'Cafe\u0301 Zentral' })).json()).toEqual(named);
    expect(await get()).toEqual(named);
    expect((await put({ display_name: null })).json()).toEqual(unset);
    expect(await get()).toEqual(unset);
  });

  const complete = {
    display_name: 'Corner Shop',
    logo: squarePng(8),
    accent_color: '#0a7d54',
    support_url: 'https://shop.example/help?from=pay',
    support_email: 'help+pay@shop.example',
    embed_origins: ['https://shop.example', 'https://www.shop.example:8443'],
  };

  test('keeps each field, changes only those that are sent, and takes back what it answers', async () => {
    expect((await put({ ...complete, accent_color: '#0A7D54' })).json()).toEqual(complete);
    let left: object = complete;
    for (const field of Object.keys(unset)) {
      left = { ...left, [field]: null };
      expect((await put({ [field]: null })).json()).toEqual(left);
      expect((await put(await get())).json()).toEqual(left);
      merchant = await gateway.merchant();
      await put(left);
    }
    expect((await put({ ...unset, embed_origins: [] })).json()).toEqual({ ...unset, embed_origins: [] });
  });

  test('audits what was changed, and a logo by its hash', async () => {
    merchant = await gateway.merchant();
    await put({ display_name: 'A', logo: squarePng(3), accent_color: '#000000' });
    await put({ display_name: 'A', logo: squarePng(4) });
    await put({ display_name: 'A', logo: squarePng(4) });
    const [last, first, ...more] = (await operate('GET', `/${merchant.merchant_id}/audit`)).json()[
      'entries'
    ] as object[];
    const hash = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
    expect(last).toMatchObject({ action: 'set_profile', before: { logo: hash }, after: { logo: hash } });
    expect(first).toMatchObject({
      ...{ before: { display_name: null, logo: null, accent_color: null } },
      after: { display_name: 'A', logo: hash, accent_color: '#000000' },
    });
    expect(more).toMatchObject([{ action: 'register' }]);
  });

  test.each<[string, object]>([
    ['logo', { logo: 'x' }],
    ['logo', { logo: Buffer.from('<svg/>').toString('base64') }],
    ['logo', { logo: 7 }],
    ...['2446cf', '#2446c', '#2446cg', 'red', '#2446cf;}'].map((color): [string, object] => [
      'accent_color',
      { accent_color: color },
    ]),
    ...[
      'http://shop.example',
      'javascript:alert(1)',
      '/help',
      'https://a:b@shop.example',
      `https://shop.example/${'x'.repeat(2000)}`,
    ].map((url): [string, object] => ['support_url', { support_url: url }]),
    ...[
      'help',
      'help@localhost',
      'A <a@shop.example>',
      'a@b.example, c@d.example',
      'a@b.example?cc=x',
      ` a@b.example`,
      `${'a'.repeat(250)}@b.ex`,
    ].map((address): [string, object] => ['support_email', { support_email: address }]),
    ...[
      'https://shop.example',
      ['http://shop.example'],
      ['https://shop.example/'],
      ['https://SHOP.example'],
      ['https://*.shop.example'],
      ['https://shop.example:443'],
      ['https://a;script-src *'],
      ['https://a;b.example'],
      ['https://shop.example', 'https://shop.example'],
      [7],
      ['*'],
      ['null'],
      Array.from({ length: 11 }, (_, number) => `https://shop-${number}.example`),
    ].map((origins): [string, object] => ['embed_origins', { embed_origins: origins }]),
  ])('refuses %s for %j, and changes nothing', async (field, body) => {
    merchant = await gateway.merchant();
    const answer = await put({ display_name: 'New', ...body });
    expect([answer.status, answer.json()['detail']]).toEqual([422, [{ field, reason: expect.any(String) }]]);
    expect(await get()).toEqual(unset);
  });

  test('serves a logo by its hash as an image and nothing else, and no other one', async () => {
    const logo = squarePng(5);
    await put({ logo });
    const bytes = Buffer.from(logo, 'base64');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const answer = await fetch(`${gateway.url}/assets/logos/${sha256}.png`);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': expect.stringContaining('immutable'),
    });
    for (const name of [`${'0'.repeat(64)}.png`, `${sha256}.svg`, 'logo.png', `${sha256.toUpperCase()}.png`])
      expect((await fetch(`${gateway.url}/assets/logos/${name}`)).status).toBe(404);
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

  test('refuses a body without a field, and unknown fields; neither is counted', async () => {
    const fields = async (body: object) =>
      ((await put(body)).json()['detail'] as { field: string }[]).map(({ field }) => field);
    expect(await fields({})).toEqual(['display_name']);
    expect(await fields({ display_name: 'x', name: 'y' })).toEqual(['name']);
  });

  test('accepts sixty characters of any kind, and returns them as text', async () => {
    const names = ['€'.repeat(60), '🍕'.repeat(60), '<script>alert(1)</script>', 'مقهى', 'a"b\\c'];
    for (const name of names) expect((await put({ display_name: name })).json()).toMatchObject({ display_name: name });
  });

  test('can be set by an operator too, is shown in the account, and every change is audited', async () => {
    const { merchant_id: id } = merchant;
    const author = { actor: 'olga', reason: 'asked by phone' };
    await put({ accent_color: '#123456' });
    expect((await operate('POST', `/${id}/profile`, { ...author, display_name: 'Corner Shop' })).json()).toMatchObject({
      ...{ display_name: 'Corner Shop', accent_color: '#123456' },
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
