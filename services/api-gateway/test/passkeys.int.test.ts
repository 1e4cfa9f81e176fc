import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { requestHash } from '@quittance/http/confirmation.ts';
import { createAuthenticator } from '@quittance/testkit/authenticator.ts';
import { endWindows, internal, testGateway, type Merchant, type TestGateway } from './gateway.ts';

const note = { actor: 'root', reason: 'asked by mail' };
const rpId = 'pay.example';
const origin = `https://${rpId}`;
const client = '192.0.2.1';

let gateway: TestGateway;
let shop: Merchant;
beforeAll(async () => {
  gateway = await testGateway({ passkeysFor: [rpId, 'localhost'] });
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  for (const scope of ['operator_sign_in', 'operator_sign_in_start', 'merchant_pages', 'webhook_settings'])
    await endWindows(gateway.pool, scope);
});

type Device = ReturnType<typeof createAuthenticator>;
type Json = Record<string, unknown>;

const at = (path: string) => `/internal/v1${path}`;
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  gateway.call('POST', at(path), { headers, body });
const device = (more: { origin?: string; rpId?: string; counts?: boolean } = {}) =>
  createAuthenticator({ origin, rpId, ...more });
const logins = () => `/merchants/${shop.merchant_id}/logins`;

async function invited(name: string, role: string): Promise<{ session: string }> {
  const { link } = (await post(logins(), { ...note, name, role }, internal)).json();
  const opened = (await post('/operator-sessions/by-link', { link, client })).json();
  return { session: String(opened['session']) };
}
const resume = async (session: string): Promise<Json> => (await post('/operator-sessions/resume', { session })).json();
const tokenOf = async (session: string) => ({ 'x-operator-token': String((await resume(session))['token']) });

async function options(path: string, body: object): Promise<object> {
  const answer = await post(path, body);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.json()['options'] as object;
}

async function addPasskey(session: string, on: Device, headers: Record<string, string> = {}) {
  const answer = on.create(await options('/account/passkey-options', { session }));
  return post('/account/passkeys', { session, name: 'phone', answer }, headers);
}

/** A request of the person, confirmed with the device. */
async function confirmed(session: string, on: Device, method: string, path: string, body: object) {
  const hash = requestHash(method, path, JSON.stringify(body));
  const answer = on.get(await options('/account/confirmation-options', { session, request_hash: hash }));
  const granted = await post('/account/confirmations', { session, request_hash: hash, answer });
  expect(granted.status).toBe(200);
  return { 'x-operator-token': String(granted.json()['token']) };
}

async function owner(name: string) {
  const { session } = await invited(name, 'owner');
  const own = device();
  expect((await addPasskey(session, own)).status).toBe(201);
  return { session, own };
}

const addKey = (headers: Record<string, string>, name: string) =>
  post(`/merchants/${shop.merchant_id}/api-keys`, { name, scope: 'read', actor: 'x', reason: 'till' }, headers);
const keyPath = () => at(`/merchants/${shop.merchant_id}/api-keys`);

describe('an invitation', () => {
  test('ends with a passkey: until then its person only looks, and from then on has the own role', async () => {
    const { session } = await invited('nora', 'owner');
    expect(await resume(session)).toMatchObject({ merchant_role: 'viewer', account_role: 'owner', passkeys: 0 });
    expect((await addKey(await tokenOf(session), 'till')).json()).toMatchObject({
      detail: 'This needs the role owner',
    });
    expect((await addPasskey(session, device())).status).toBe(201);
    expect(await resume(session)).toMatchObject({ merchant_role: 'owner', account_role: 'owner', passkeys: 1 });
  });

  test('is not taken by an answer for another site, another host, or of an earlier question', async () => {
    const { session } = await invited('rob', 'staff');
    for (const wrong of [{ origin: 'https://evil.example' }, { origin: `http://${rpId}` }, { rpId: 'evil.example' }])
      expect([wrong, (await addPasskey(session, device(wrong))).status]).toEqual([wrong, 422]);
    const answer = device().create(await options('/account/passkey-options', { session }));
    const add = () => post('/account/passkeys', { session, name: 'phone', answer });
    expect([(await add()).status, (await add()).status]).toEqual([201, 401]);
    expect(await resume(session)).toMatchObject({ passkeys: 1 });
  });
});

test('at a second console a passkey belongs to the name of that console', async () => {
  const { session } = await invited('lena', 'owner');
  const asked = await options('/account/passkey-options', { session, rp_id: 'localhost' });
  expect(asked).toMatchObject({ rp: { id: 'localhost' } });
  // Made for one console, used at the other.
  const mixed = createAuthenticator({ origin: 'http://localhost:8090', rpId });
  expect((await post('/account/passkeys', { session, name: 'x', answer: mixed.create(asked) })).status).toBe(422);
  const tunnel = createAuthenticator({ origin: 'http://localhost:8090', rpId: 'localhost' });
  const again = await options('/account/passkey-options', { session, rp_id: 'localhost' });
  const added = await post('/account/passkeys', { session, name: 'tunnel', answer: tunnel.create(again) });
  expect(added.status).toBe(201);
  expect(await options('/operator-sessions/passkey-options', { client, rp_id: 'localhost' })).toMatchObject({
    rpId: 'localhost',
  });
});

describe('a confirmation', () => {
  test('is for one request of one session: not for another body, another path, or a second person', async () => {
    const { session, own } = await owner('ann');
    expect((await addKey(await tokenOf(session), 'till')).json()).toMatchObject({ code: 'confirmation_needed' });
    const body = { name: 'till', scope: 'read', actor: 'x', reason: 'till' };
    const headers = await confirmed(session, own, 'POST', keyPath(), body);
    expect((await addKey(headers, 'another')).status).toBe(403);
    const invite = { ...note, name: 'eve', role: 'owner' };
    expect((await post(logins(), invite, headers)).status).toBe(403);
    expect((await addKey(headers, 'till')).status).toBe(201);
  });

  test('is not given for the passkey of somebody else, a signature used before, of another session, or too late', async () => {
    const [bea, cid] = [await owner('bea'), await owner('cid')];
    const hash = requestHash('POST', keyPath(), '{}');
    const ask = () => options('/account/confirmation-options', { session: bea.session, request_hash: hash });
    const send = (answer: object, request_hash = hash) =>
      post('/account/confirmations', { session: bea.session, request_hash, answer });
    const { challenge } = (await ask()) as { challenge: string };
    expect((await send(cid.own.get({ challenge }))).status).toBe(403);
    const good = bea.own.get(await ask());
    expect((await send(good, requestHash('POST', keyPath(), '{"x":1}'))).status).toBe(403);
    expect([(await send(good)).status, (await send(good)).status]).toEqual([200, 403]);
    const { link } = (await post(`${logins()}/bea/sign-in-link`, note, internal)).json();
    const second = String((await post('/operator-sessions/by-link', { link, client })).json()['session']);
    const elsewhere = await options('/account/confirmation-options', { session: second, request_hash: hash });
    expect((await send(bea.own.get(elsewhere))).status).toBe(403);
    const late = bea.own.get(await ask());
    await gateway.pool.query('update passkey_challenge set ends_at = clock_timestamp()');
    expect((await send(late)).status).toBe(403);
  });

  test('is not given by a copy of a device that counts its signatures', async () => {
    const { session } = await invited('ivy', 'owner');
    const own = device({ counts: true });
    expect((await addPasskey(session, own)).status).toBe(201);
    const hash = requestHash('POST', keyPath(), '{}');
    const ask = () => options('/account/confirmation-options', { session, request_hash: hash });
    const [earlier, later] = [own.get(await ask()), own.get(await ask())];
    const send = (answer: object) => post('/account/confirmations', { session, request_hash: hash, answer });
    expect([(await send(later)).status, (await send(earlier)).status]).toEqual([200, 403]);
  });

  test('is needed for a second passkey: a stolen session adds none, not even with a confirmation by its thief', async () => {
    const [dan, thief] = [await owner('dan'), await owner('thief')];
    const second = device();
    expect((await addPasskey(dan.session, second, await tokenOf(dan.session))).status).toBe(403);
    const answer = second.create(await options('/account/passkey-options', { session: dan.session }));
    const body = { session: dan.session, name: 'thief', answer };
    const headers = await confirmed(thief.session, thief.own, 'POST', at('/account/passkeys'), body);
    expect((await post('/account/passkeys', body, headers)).status).toBe(401);
    const own = await confirmed(dan.session, dan.own, 'POST', at('/account/passkeys'), body);
    expect((await post('/account/passkeys', body, own)).status).toBe(201);
  });
});

describe('signing in', () => {
  const signIn = async (on: Device) => {
    const answer = on.get(await options('/operator-sessions/passkey-options', { client }));
    return post('/operator-sessions/by-passkey', { answer, client, user_agent: 'Firefox' });
  };

  test('with a passkey names its owner and gives the own role; the account lists the sessions and ends them', async () => {
    const { own } = await owner('eli');
    const opened = (await signIn(own)).json();
    expect(opened).toMatchObject({ name: 'eli', merchant_role: 'owner' });
    const session = String(opened['session']);
    expect(await resume(session)).toMatchObject({ merchant_role: 'owner' });
    const account = (await post('/account', { session })).json() as { sessions: Json[]; passkeys: Json[] };
    expect(account.passkeys).toMatchObject([{ name: 'phone', last_used_at: expect.any(String) }]);
    expect(account.sessions).toMatchObject([
      { current: true, user_agent: 'Firefox', has_passkey: true },
      { current: false },
    ]);
    const old = String(account.sessions[1]?.['id']);
    expect((await post('/account/end-session', { session, id: old })).status).toBe(200);
    const stranger = await owner('ela');
    const [foreign] = (await post('/account', { session: stranger.session })).json()['sessions'] as Json[];
    expect((await post('/account/end-session', { session, id: foreign?.['id'] })).status).toBe(404);
    expect(await resume(stranger.session)).toMatchObject({ name: 'ela' });
    expect(((await post('/account', { session })).json()['sessions'] as Json[]).length).toBe(1);
  });

  test('with an unknown passkey, or one of a disabled person, is 401', async () => {
    const { own } = await owner('fay');
    await post(`${logins()}/fay/disable`, note, internal);
    expect((await signIn(own)).status).toBe(401);
    const stranger = device();
    stranger.create({ challenge: 'x' });
    expect((await signIn(stranger)).status).toBe(401);
  });

  test('who is enabled again has no passkey of before, and has to add one', async () => {
    const { own } = await owner('kim');
    await post(`${logins()}/kim/disable`, note, internal);
    const { session } = await invited('kim', 'owner');
    expect((await signIn(own)).status).toBe(401);
    expect(await resume(session)).toMatchObject({ merchant_role: 'viewer', account_role: 'owner', passkeys: 0 });
    expect((await addPasskey(session, device())).status).toBe(201);
    expect(await resume(session)).toMatchObject({ merchant_role: 'owner', passkeys: 1 });
  });

  test('an operator who is enabled again has no passkey of before either', async () => {
    const add = async () => (await post('/operators', { ...note, name: 'otto', role: 'admin' }, internal)).json();
    const open = async ({ credential }: Json) =>
      String((await post('/operator-sessions', { credential, client })).json()['session']);
    const own = device();
    expect((await addPasskey(await open(await add()), own)).status).toBe(201);
    await post('/operators/otto/disable', note, internal);
    const again = await open(await add());
    expect((await signIn(own)).status).toBe(401);
    expect(await resume(again)).toMatchObject({ role: 'viewer', account_role: 'admin', passkeys: 0 });
    const { entries } = (await gateway.call('GET', at('/operators/audit?only=changes'), { headers: internal })).json();
    expect((entries as Json[])[0]).toMatchObject({ action: 'add', before: { disabled: true, passkeys: 1 } });
  });

  test('after support has reset the passkeys, no session and no passkey works, and a link begins again', async () => {
    const { session, own } = await owner('gus');
    expect((await post(`${logins()}/gus/reset-passkeys`, note, internal)).json()).toEqual({ removed: 1 });
    expect([(await signIn(own)).status, (await post('/account', { session })).status]).toEqual([401, 401]);
    const { link } = (await post(`${logins()}/gus/sign-in-link`, note, internal)).json();
    const again = String((await post('/operator-sessions/by-link', { link, client })).json()['session']);
    expect(await resume(again)).toMatchObject({ merchant_role: 'viewer', passkeys: 0 });
    expect((await addPasskey(again, device())).status).toBe(201);
  });
});

test('an operator without a passkey only looks at the console, and with one confirms what changes people', async () => {
  const { credential } = (await post('/operators', { ...note, name: 'olga', role: 'admin' }, internal)).json();
  const session = String((await post('/operator-sessions', { credential, client })).json()['session']);
  expect(await resume(session)).toMatchObject({ role: 'viewer', account_role: 'admin', passkeys: 0 });
  const own = device();
  expect((await addPasskey(session, own)).status).toBe(201);
  expect(await resume(session)).toMatchObject({ role: 'admin' });
  const body = { actor: 'x', reason: 'asked', name: 'petra', role: 'viewer' };
  expect((await post('/operators', body, await tokenOf(session))).json()).toMatchObject({
    code: 'confirmation_needed',
  });
  const headers = await confirmed(session, own, 'POST', at('/operators'), body);
  expect((await post('/operators', body, headers)).status).toBe(201);
  // A program that signs in with a credential has nothing to confirm with.
  const { token } = (await post('/operator-tokens', { credential })).json();
  const other = { ...body, name: 'quinn' };
  expect((await post('/operators', other, { 'x-operator-token': String(token) })).status).toBe(201);
});

test('roles change at once, and nobody changes the own one', async () => {
  const { session, own } = await owner('hal');
  const staff = await owner('ida');
  const setRole = (name: string, role: string) => ({ path: at(`${logins()}/${name}/role`), body: { role, ...note } });
  const ida = setRole('ida', 'staff');
  const headers = await confirmed(session, own, 'POST', ida.path, ida.body);
  expect((await gateway.call('POST', ida.path, { headers, body: ida.body })).json()).toMatchObject({ role: 'staff' });
  expect(await resume(staff.session)).toMatchObject({ merchant_role: 'staff' });
  const hal = setRole('hal', 'viewer');
  const mine = await confirmed(session, own, 'POST', hal.path, hal.body);
  expect((await gateway.call('POST', hal.path, { headers: mine, body: hal.body })).status).toBe(409);
});
