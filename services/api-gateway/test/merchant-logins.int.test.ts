import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { LOGINS_MAX } from '@quittance/contracts/http/api-gateway/people.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { issueOperatorToken } from '@quittance/http/operator-token.ts';
import { endWindows, gatewayTrust, internal, testGateway, type Merchant, type TestGateway } from './gateway.ts';

const note = { actor: 'root', reason: 'asked by mail' };
const scopes = ['operator_sign_in', 'merchant_pages', 'webhook_settings'];

let gateway: TestGateway;
let shop: Merchant;
let other: Merchant;
beforeAll(async () => {
  gateway = await testGateway();
  [shop, other] = [await gateway.merchant(), await gateway.merchant()];
});
afterAll(() => gateway.close());
beforeEach(async () => {
  for (const scope of scopes) await endWindows(gateway.pool, scope);
});

const post = (path: string, body: object, headers: Record<string, string> = internal) =>
  gateway.call('POST', `/internal/v1${path}`, { headers, body });
const loginsOf = ({ merchant_id: id }: Merchant) => `/merchants/${id}/logins`;
const add = async (name: string, merchant = shop) => {
  const added = await post(loginsOf(merchant), { ...note, name });
  expect(added.status).toBe(201);
  return String(added.json()['credential']);
};
const signIn = (credential: string) => post('/operator-sessions', { credential, client: '192.0.2.1' }, {});
const sessionOf = async (credential: string) => String((await signIn(credential)).json()['session']);
const resume = (session: string) => post('/operator-sessions/resume', { session }, {});
const linkOf = (name: string, merchant = shop) => post(`${loginsOf(merchant)}/${name}/sign-in-link`, note);
const use = (link: string) => post('/operator-sessions/by-link', { link, client: '192.0.2.9' }, {});
const setStatus = (action: 'block' | 'unblock') => post(`/merchants/${shop.merchant_id}/${action}`, note);
/** Sets a counter in a long window, so that a slow machine does not start a new one. */
const setCount = (scope: string, count: number) =>
  gateway.pool.query(
    `update rate_limit_window set count = $2, ends_at = clock_timestamp() + interval '1 hour' where scope = $1 and subject = $3`,
    [scope, count, shop.merchant_id],
  );
const auditOf = async ({ merchant_id: id }: Merchant) => {
  const audit = await gateway.call('GET', `/internal/v1/merchants/${id}/audit`, { headers: internal });
  return audit.json()['entries'] as { action: string; actor: string; reason: string }[];
};

describe("a merchant's person", () => {
  test('signs in with a credential and gets a token for this merchant only', async () => {
    const credential = await add('anna');
    expect(credential).toMatch(/^qm_[\w-]{43}$/);
    const session = await sessionOf(credential);
    const resumed = (await resume(session)).json();
    const anna = { name: 'anna', role: 'merchant', merchant_id: shop.merchant_id, merchant_role: 'viewer' };
    expect(resumed).toMatchObject({ ...anna, expires_in: 300 });
    const headers = { 'x-operator-token': String(resumed['token']) };
    for (const path of ['/merchants', `/merchants/${shop.merchant_id}`, loginsOf(shop), '/operators'])
      expect([path, (await gateway.call('GET', `/internal/v1${path}`, { headers })).status]).toEqual([path, 403]);
  });

  test('has a name within the merchant: the same name at another merchant is a different person', async () => {
    const [here, there] = [await add('karl'), await add('karl', other)];
    expect((await resume(await sessionOf(there))).json()).toMatchObject({ merchant_id: other.merchant_id });
    await post(`${loginsOf(other)}/karl/disable`, note);
    expect([(await signIn(here)).status, (await signIn(there)).status]).toEqual([201, 401]);
    const listed = await gateway.call('GET', `/internal/v1${loginsOf(other)}`, { headers: internal });
    expect(listed.json()).toMatchObject({ merchant_id: other.merchant_id, logins: [{ name: 'karl' }] });
  });

  test('cannot exchange the credential for a token, as an operator may', async () => {
    expect((await post('/operator-tokens', { credential: await add('otto') }, {})).status).toBe(401);
  });

  test('is signed out of one session or of all, and nobody else is', async () => {
    const [rosa, mara] = [await add('rosa'), await add('mara')];
    const [first, second, third] = [await sessionOf(rosa), await sessionOf(rosa), await sessionOf(rosa)];
    const others = await sessionOf(mara);
    const close = async (session: string, everywhere: boolean) =>
      (await post('/operator-sessions/close', { session, everywhere }, {})).json()['closed'];
    expect([await close(first, false), await close(second, true)]).toEqual([1, 2]);
    expect([(await resume(third)).status, (await resume(others)).status]).toEqual([401, 200]);
  });

  test('who is disabled loses session, link and credential immediately, and does not get them back when enabled again', async () => {
    const credential = await add('vera');
    const session = await sessionOf(credential);
    const link = String((await linkOf('vera')).json()['link']);
    expect((await post(`${loginsOf(shop)}/vera/disable`, note)).json()).toMatchObject({ name: 'vera' });
    await add('vera');
    const statuses = [(await resume(session)).status, (await use(link)).status, (await signIn(credential)).status];
    expect(statuses).toEqual([401, 401, 401]);
  });

  test('of a blocked merchant cannot sign in or use a session until the merchant is unblocked', async () => {
    const credential = await add('nora');
    const session = await sessionOf(credential);
    const link = String((await linkOf('nora')).json()['link']);
    await setStatus('block');
    const refused = [await resume(session), await signIn(credential), await use(link), await linkOf('nora')];
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 404]);
    // The same as for an unknown credential.
    expect((await signIn(credential)).text).toBe((await signIn(`qm_${'a'.repeat(43)}`)).text);
    await setStatus('unblock');
    const statuses = [await resume(session), await signIn(credential), await use(link)].map(({ status }) => status);
    expect(statuses).toEqual([200, 201, 201]);
  });

  test("shares a limit of pages per minute with the merchant's other people, and API keys are not affected", async () => {
    const [a, b] = [await sessionOf(await add('ines')), await sessionOf(await add('ines', other))];
    expect((await resume(a)).status).toBe(200);
    await setCount('merchant_pages', 119);
    expect((await resume(a)).status).toBe(200);
    const refused = await resume(a);
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await resume(b)).status).toBe(200);
  });
});

describe('support', () => {
  test("creates a link that works once, and the merchant's audit log has its creation and its use", async () => {
    await add('lena');
    const made = await linkOf('lena');
    const link = String(made.json()['link']);
    const used = await Promise.all([use(link), use(link), use(link)]);
    expect(used.map(({ status }) => status).sort()).toEqual([201, 401, 401]);
    expect((await auditOf(shop)).slice(0, 3)).toMatchObject([
      { action: 'use_sign_in_link', actor: '@merchant/lena', reason: 'from 192.0.2.9', after: { name: 'lena' } },
      { action: 'make_sign_in_link', actor: 'root', reason: 'asked by mail' },
      { action: 'add_login', actor: 'root' },
    ]);
    await linkOf('lena');
    const { rows } = await gateway.pool.query<{ text: string }>('select l::text as text from sign_in_link l');
    expect(rows.map(({ text }) => text).join()).not.toContain(link);
    expect(gateway.logs()).not.toContain(link);
  });

  test('cannot add a name twice, an account of an unknown merchant, or more than the maximum', async () => {
    await add('dora', other);
    expect((await post(loginsOf(other), { ...note, name: 'dora' })).status).toBe(409);
    expect((await post(loginsOf({ ...shop, merchant_id: newId('mer') }), { ...note, name: 'dora' })).status).toBe(404);
    expect((await post(loginsOf(other), { ...note, name: 'Dora' })).status).toBe(422);
    const missing = [await linkOf('nobody'), await post(`${loginsOf(shop)}/dora/disable`, note)];
    expect(missing.map(({ status }) => status)).toEqual([404, 404]);
    const last = await gateway.merchant();
    const names = Array.from({ length: LOGINS_MAX + 3 }, (_, n) => `person${n}`);
    const statuses = await Promise.all(
      names.map(async (name) => (await post(loginsOf(last), { ...note, name })).status),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(LOGINS_MAX);
    expect(statuses.filter((status) => status === 409)).toHaveLength(3);
  });

  test('stores credentials as hashes, and no log has one', async () => {
    const credential = await add('olga');
    await signIn(credential);
    const { rows } = await gateway.pool.query<{ text: string }>('select l::text as text from merchant_login l');
    expect(rows.map(({ text }) => text).join()).not.toContain(credential);
    expect(gateway.logs()).not.toContain(credential);
  });
});

describe('a test event', () => {
  const path = () => `/merchants/${shop.merchant_id}/webhook-test`;
  const tokenOf = (name: string, merchant: Merchant) => ({
    'x-operator-token': issueOperatorToken(gatewayTrust, {
      ...{ name, role: 'merchant', merchant_id: merchant.merchant_id, merchant_role: 'viewer' },
    }),
  });

  test("is audited with the person's name, counts towards the API's limit, and cannot be sent for another merchant", async () => {
    const asked = `POST /internal/v1/merchants/${shop.merchant_id}/webhook/test`;
    gateway.webhooks.answers.set(asked, { status: 200, body: { delivered: true } });
    const ask = (merchant: Merchant) => post(path(), note, tokenOf('anna', merchant));
    expect(await ask(shop)).toMatchObject({ status: 200 });
    expect((await auditOf(shop))[0]).toMatchObject({ action: 'test_webhook', actor: '@merchant/anna' });
    expect((await ask(other)).status).toBe(404);
    const api = () => gateway.call('POST', '/api/v1/merchant/webhook/test', { headers: { 'x-api-key': shop.api_key } });
    await setCount('webhook_settings', 9);
    expect((await api()).status).toBe(200);
    expect([(await ask(shop)).status, (await api()).status]).toEqual([429, 429]);
  });
});
