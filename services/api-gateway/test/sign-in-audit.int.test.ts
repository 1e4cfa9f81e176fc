import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { endWindows, internal, testGateway, type TestGateway } from './gateway.ts';

let gateway: TestGateway;
let merchantId: string;
const secrets: Record<'olga' | 'gone' | 'anna' | 'left', string> = { olga: '', gone: '', anna: '', left: '' };

const note = { actor: 'root', reason: 'joined us' };
const call = (path: string, body: object, headers: Record<string, string> = {}) =>
  gateway.call('POST', `/internal/v1${path}`, { headers, body });
const signIn = async (credential: string, more: object = {}) =>
  (await call('/operator-sessions', { credential, client: '192.0.2.1', ...more })).status;
const exchange = async (credential: string) => (await call('/operator-tokens', { credential })).status;
const entriesAt = async (path: string) =>
  (await gateway.call('GET', `/internal/v1${path}`, { headers: internal })).json()['entries'] as object[];
const newest = async (count: number) => (await entriesAt('/operators/audit')).slice(0, count);
const newestOfMerchant = async (count: number) => (await entriesAt(`/merchants/${merchantId}/audit`)).slice(0, count);

beforeAll(async () => {
  gateway = await testGateway();
  merchantId = (await gateway.merchant()).merchant_id;
  const secretOf = async (path: string, body: object) =>
    String((await call(path, { ...note, ...body }, internal)).json()['credential']);
  secrets.olga = await secretOf('/operators', { name: 'olga', role: 'support' });
  secrets.gone = await secretOf('/operators', { name: 'gone', role: 'admin' });
  secrets.anna = await secretOf(`/merchants/${merchantId}/logins`, { name: 'anna' });
  secrets.left = await secretOf(`/merchants/${merchantId}/logins`, { name: 'left' });
  await call('/operators/gone/disable', note, internal);
  await call(`/merchants/${merchantId}/logins/left/disable`, note, internal);
});
afterAll(() => gateway.close());
beforeEach(async () => {
  for (const scope of ['operator_sign_in', 'merchant_sign_in', 'sign_in_refusals', 'operator_tokens'])
    await endWindows(gateway.pool, scope);
});

describe('the audit has a row for', () => {
  test('an operator who signs in, and one whose credential was revoked', async () => {
    expect([await signIn(secrets.olga), await signIn(secrets.gone)]).toEqual([201, 401]);
    expect(await newest(2)).toMatchObject([
      { operator: 'gone', action: 'refuse_sign_in', actor: 'nobody', reason: 'from 192.0.2.1' },
      { operator: 'olga', action: 'sign_in', actor: '@olga', reason: 'from 192.0.2.1' },
    ]);
  });

  test("a merchant's person, in the audit log of that merchant", async () => {
    const place = { audience: 'merchants' };
    expect([await signIn(secrets.anna, place), await signIn(secrets.left, place)]).toEqual([201, 401]);
    const reason = "from 192.0.2.1, at the merchants' console";
    expect(await newestOfMerchant(2)).toMatchObject([
      { action: 'refuse_sign_in', actor: 'nobody', reason, after: { name: 'left' } },
      { action: 'sign_in', actor: '@merchant/anna', reason, after: { name: 'anna' } },
    ]);
  });

  test("an operator who is refused at the merchants' console", async () => {
    expect(await signIn(secrets.olga, { audience: 'merchants' })).toBe(401);
    expect(await newest(1)).toMatchObject([
      { operator: 'olga', action: 'refuse_sign_in', reason: "from 192.0.2.1, at the merchants' console" },
    ]);
  });

  test('an unknown credential, and a link that was used', async () => {
    const made = await call('/operators/olga/sign-in-link', note, internal);
    const link = String(made.json()['link']);
    const use = async () => (await call('/operator-sessions/by-link', { link, client: '192.0.2.3' })).status;
    expect([await use(), await use(), await signIn('qo_wrong')]).toEqual([201, 401, 401]);
    expect(await newest(3)).toMatchObject([
      { operator: null, action: 'refuse_sign_in', actor: 'nobody', reason: 'from 192.0.2.1' },
      { operator: null, action: 'refuse_sign_in', actor: 'nobody', reason: 'from 192.0.2.3' },
      { operator: 'olga', action: 'use_sign_in_link', actor: '@olga', reason: 'from 192.0.2.3' },
    ]);
  });

  test('a credential that `ops` uses, once an hour, and one that is refused', async () => {
    for (let time = 0; time < 3; time += 1) expect(await exchange(secrets.olga)).toBe(200);
    expect([await exchange(secrets.gone), await exchange('qo_wrong')]).toEqual([401, 401]);
    expect(await newest(3)).toMatchObject([
      { operator: null, action: 'refuse_sign_in', reason: 'from 127.0.0.1, with ops' },
      { operator: 'gone', action: 'refuse_sign_in', reason: 'from 127.0.0.1, with ops' },
      { operator: 'olga', action: 'use_credential', actor: '@olga', reason: 'from 127.0.0.1, with ops' },
    ]);
    expect((await newest(4))[3]).not.toMatchObject({ action: 'use_credential' });
  });
});

test('a stranger with any number of addresses does not fill the table, and hides no change of an account', async () => {
  const rows = async () => (await gateway.pool.query('select from operator_audit')).rowCount ?? 0;
  const before = await rows();
  for (let attempt = 0; attempt < 80; attempt += 1) {
    expect(await signIn('qo_wrong', { client: `198.51.100.${attempt}` })).toBe(401);
    await exchange('qo_wrong');
  }
  expect(await rows()).toBe(before + 60 + 60);
  // The merchants' console has its own limit.
  await signIn('qo_wrong', { audience: 'merchants', client: '203.0.113.1' });
  expect(await rows()).toBe(before + 121);
  expect((await entriesAt('/operators/audit?only=changes')).slice(0, 2)).toMatchObject([
    { action: 'make_sign_in_link', operator: 'olga' },
    { action: 'disable', operator: 'gone' },
  ]);
  // They are deleted after 90 days, ten for each new one; rows about known people are kept.
  await gateway.pool.query(`update operator_audit set at = at - interval '91 days'`);
  await endWindows(gateway.pool, 'sign_in_refusals');
  await signIn('qo_wrong', { client: '203.0.113.2' });
  expect(await rows()).toBe(before + 121 + 1 - 10);
  const { rowCount } = await gateway.pool.query('select from operator_audit where operator is not null');
  expect(rowCount).toBeGreaterThan(5);
});

test('no row contains a credential or a link', async () => {
  const { rows } = await gateway.pool.query<{ text: string }>(
    `select a::text as text from operator_audit a union all select m::text from merchant_audit m`,
  );
  const all = rows.map(({ text }) => text).join();
  for (const secret of Object.values(secrets)) expect(all).not.toContain(secret);
  expect(all).not.toMatch(/q[lom]_/);
});
