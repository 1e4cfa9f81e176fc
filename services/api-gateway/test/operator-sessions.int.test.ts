import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { endWindows, internal, testGateway, type TestGateway } from './gateway.ts';

let gateway: TestGateway;
let credential: string;
const call = (path: string, body: object, headers: Record<string, string> = {}) =>
  gateway.call('POST', `/internal/v1${path}`, { headers, body });
const note = { actor: 'root', reason: 'joined us' };
const addOlga = async () => {
  const added = await call('/operators', { ...note, name: 'olga', role: 'support' }, internal);
  return String(added.json()['credential']);
};
const disableOlga = () => call('/operators/olga/disable', note, internal);

beforeAll(async () => {
  gateway = await testGateway();
  credential = await addOlga();
});
afterAll(() => gateway.close());
beforeEach(() => Promise.all(['operator_sign_in', 'merchant_sign_in'].map((scope) => endWindows(gateway.pool, scope))));

const signIn = (given = credential, client = '192.0.2.1', more = {}) =>
  call('/operator-sessions', { credential: given, client, ...more });
const sessionOf = async () => String((await signIn()).json()['session']);
const resume = async (session: string) => (await call('/operator-sessions/resume', { session })).status;

describe('a session', () => {
  test('lets its operator act without the credential, on any replica, until sign-out', async () => {
    const session = await sessionOf();
    const other = await gateway.replica();
    const resumed = await other.call('POST', '/internal/v1/operator-sessions/resume', { body: { session } });
    expect([resumed.status, resumed.json()]).toMatchObject([200, { name: 'olga', role: 'support', expires_in: 300 }]);
    const headers = { 'x-operator-token': String(resumed.json()['token']) };
    expect((await gateway.call('GET', '/internal/v1/merchants', { headers })).status).toBe(200);
    expect((await call('/operator-sessions/close', { session, everywhere: false })).json()).toEqual({ closed: 1 });
    expect(await resume(session)).toBe(401);
  });

  test('is one of several, and signing out everywhere ends them all', async () => {
    const sessions = [await sessionOf(), await sessionOf()];
    expect((await call('/operator-sessions/close', { session: sessions[0], everywhere: true })).json()).toEqual({
      closed: 2,
    });
    expect(await Promise.all(sessions.map(resume))).toEqual([401, 401]);
  });

  test.each([
    ['30 minutes after it was last used', "last_seen_at = last_seen_at - interval '30 minutes'"],
    ['12 hours after it began, however much it is used', "ends_at = ends_at - interval '12 hours'"],
  ])('is over %s', async (_when, change) => {
    const session = await sessionOf();
    expect(await resume(session)).toBe(200);
    await gateway.pool.query(`update operator_session set ${change}`);
    expect(await resume(session)).toBe(401);
  });

  test('ends with its account, also if the account is enabled again', async () => {
    const session = await sessionOf();
    await disableOlga();
    expect(await resume(session)).toBe(401);
    credential = await addOlga();
    expect(await resume(session)).toBe(401);
    expect((await signIn()).status).toBe(201);
  });

  test('is stored as a hash, and its secret is in no log', async () => {
    const session = await sessionOf();
    await resume(session);
    const { rows } = await gateway.pool.query<{ text: string }>('select s::text as text from operator_session s');
    expect(rows.map(({ text }) => text).join()).not.toContain(session);
    expect(gateway.logs()).not.toContain(session);
  });

  test.each(['', 'qs_', `qs_${'a'.repeat(43)}`])('%p is not a session', async (session) => {
    expect([401, 422]).toContain(await resume(session));
  });
});

describe('signing in', () => {
  test('is 429 after ten attempts in a minute from one address, right or wrong, and not from other addresses', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await signIn('qo_wrong')).status).toBe(401);
    const refused = await signIn();
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await signIn(credential, '192.0.2.2')).status).toBe(201);
  });

  test("at the merchants' console does not count towards the operators' limit, even from the same address", async () => {
    const atMerchants = () => signIn('qm_wrong', '192.0.2.1', { audience: 'merchants' });
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await atMerchants()).status).toBe(401);
    expect((await atMerchants()).status).toBe(429);
    expect((await signIn()).status).toBe(201);
    for (let attempt = 0; attempt < 10; attempt += 1) await signIn('qo_wrong');
    expect((await signIn(credential, '192.0.2.1', { audience: 'everyone' })).status).toBe(429);
  });

  test('counts the addresses of one IPv6 block together, and other blocks separately', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) await signIn('qo_wrong', `2001:db8:1:2::${attempt}`);
    expect((await signIn(credential, '2001:db8:1:2:ffff::1')).status).toBe(429);
    expect((await signIn(credential, '2001:db8:1:3::1')).status).toBe(201);
  });

  test("is refused to operators at the merchants' console, by credential or link, and leaves no session", async () => {
    const sessions = () => gateway.pool.query('select from operator_session');
    const before = (await sessions()).rowCount;
    const refused = await signIn(credential, '192.0.2.1', { audience: 'merchants' });
    expect([refused.status, refused.text]).toEqual([401, (await signIn('qo_wrong')).text]);
    const made = await call('/operators/olga/sign-in-link', note, internal);
    const body = { link: String(made.json()['link']), client: '192.0.2.1', audience: 'merchants' };
    expect((await call('/operator-sessions/by-link', body)).status).toBe(401);
    expect((await sessions()).rowCount).toBe(before);
  });
});

describe('a link', () => {
  const linkOf = async (name = 'olga') => {
    const made = await call(`/operators/${name}/sign-in-link`, note, internal);
    return { status: made.status, link: String(made.json()['link']) };
  };
  const use = (link: string) => call('/operator-sessions/by-link', { link, client: '192.0.2.9' });

  test('signs its operator in once, and says so when it is used again', async () => {
    const { status, link } = await linkOf();
    expect([status, link]).toEqual([201, expect.stringMatching(/^ql_[\w-]{43}$/)]);
    const used = await use(link);
    expect([used.status, used.json()]).toMatchObject([201, { name: 'olga', role: 'support' }]);
    expect(await resume(String(used.json()['session']))).toBe(200);
    expect((await use(link)).status).toBe(401);
  });

  test('that is used twice at the same time signs in once', async () => {
    const { link } = await linkOf();
    const statuses = (await Promise.all([use(link), use(link), use(link)])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 401, 401]);
  });

  test('ends after half an hour, when its operator is signed out, and when the account is disabled', async () => {
    const [late, signedOut] = [await linkOf(), await linkOf()];
    await gateway.pool.query(
      `update sign_in_link set ends_at = ends_at - interval '30 minutes' where link_hash = sha256($1::text::bytea)`,
      [late.link],
    );
    expect((await use(late.link)).status).toBe(401);
    const session = await sessionOf();
    expect((await call('/operators/olga/sign-out', note, internal)).json()).toMatchObject({
      closed: expect.any(Number),
    });
    expect([(await use(signedOut.link)).status, await resume(session)]).toEqual([401, 401]);
    const disabled = await linkOf();
    await disableOlga();
    credential = await addOlga();
    expect((await use(disabled.link)).status).toBe(401);
  });

  test('is audited when it is created and used, stored as a hash, and in no log', async () => {
    const { link } = await linkOf();
    await use(link);
    const { entries } = (await gateway.call('GET', '/internal/v1/operators/audit', { headers: internal })).json() as {
      entries: object[];
    };
    expect(entries.slice(0, 2)).toMatchObject([
      { operator: 'olga', action: 'use_sign_in_link', actor: '@olga', reason: 'from 192.0.2.9' },
      { operator: 'olga', action: 'make_sign_in_link', actor: 'root', reason: 'joined us' },
    ]);
    await linkOf();
    const { rows } = await gateway.pool.query<{ text: string }>('select l::text as text from sign_in_link l');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ text }) => text).join()).not.toContain(link);
    expect(gateway.logs()).not.toContain(link);
  });

  test('is only created for active operators, and its use counts as an attempt to sign in', async () => {
    expect((await linkOf('nobody')).status).toBe(404);
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await use('ql_wrong')).status).toBe(401);
    expect((await use((await linkOf()).link)).status).toBe(429);
  });
});
