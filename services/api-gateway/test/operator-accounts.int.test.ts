import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internal, testGateway, type TestGateway } from './gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway.close());

const note = { actor: 'root', reason: 'joined us' };
const call = (method: string, path: string, headers: Record<string, string>, body?: object) =>
  gateway.call(method, `/internal/v1${path}`, { headers, ...(body !== undefined && { body }) });
const add = (name: string, role: string, headers = internal as Record<string, string>) =>
  call('POST', '/operators', headers, { ...note, name, role });
const credentialOf = async (name: string, role: string) => String((await add(name, role)).json()['credential']);
const exchange = (credential: string) => call('POST', '/operator-tokens', {}, { credential });
const as = async (credential: string) => ({
  'x-operator-token': String((await exchange(credential)).json()['token']),
});

describe("an operator's account", () => {
  test('has a credential that gives a token with its role, and that is only stored as a hash', async () => {
    const added = await add('olga', 'support');
    expect([added.status, added.json()]).toEqual([
      201,
      { name: 'olga', role: 'support', credential: expect.stringMatching(/^qo_[\w-]{43}$/) },
    ]);
    const { credential } = added.json() as { credential: string };
    const issued = await exchange(credential);
    expect([issued.status, issued.json()]).toMatchObject([200, { name: 'olga', role: 'support', expires_in: 300 }]);
    const { rows } = await gateway.pool.query<{ text: string }>('select o::text as text from operator o');
    expect(rows.map(({ text }) => text).join()).not.toContain(credential);
    expect(gateway.logs()).not.toContain(credential);
    expect(gateway.logs()).not.toContain(String(issued.json()['token']));
  });

  test("signs its owner's actions, and allows only those of its role", async () => {
    const { merchant_id: merchantId } = await gateway.merchant();
    const olga = await as(await credentialOf('petra', 'support'));
    expect((await call('POST', `/merchants/${merchantId}/block`, olga, { ...note, reason: 'fraud' })).status).toBe(200);
    const { entries } = (await call('GET', `/merchants/${merchantId}/audit`, olga)).json() as { entries: object[] };
    expect(entries[0]).toMatchObject({ action: 'block', actor: '@petra', reason: 'fraud' });
    expect((await call('POST', `/merchants/${merchantId}/replace-credentials`, olga, note)).status).toBe(403);
    expect((await call('GET', '/operators', olga)).status).toBe(403);
    expect((await add('intruder', 'admin', olga)).status).toBe(403);
  });

  test('is refused as soon as it is disabled, and can be enabled only with a new credential', async () => {
    const first = await credentialOf('ada', 'admin');
    expect((await add('ada', 'viewer')).status).toBe(409);
    const disabled = await call('POST', '/operators/ada/disable', internal, note);
    expect(disabled.json()).toMatchObject({ name: 'ada', disabled_at: expect.any(String) });
    expect((await exchange(first)).status).toBe(401);
    expect((await call('POST', '/operators/ada/disable', internal, note)).status).toBe(404);
    const second = await credentialOf('ada', 'viewer');
    expect([(await exchange(first)).status, (await exchange(second)).json()['role']]).toEqual([401, 'viewer']);
    const { entries } = (await call('GET', '/operators/audit?only=changes', internal)).json() as { entries: object[] };
    expect(entries.slice(0, 3)).toMatchObject([
      { operator: 'ada', action: 'add', before: { role: 'admin', disabled: true }, after: { role: 'viewer' } },
      { operator: 'ada', action: 'disable', actor: 'root', reason: 'joined us' },
      { operator: 'ada', action: 'add', before: null, after: { role: 'admin' } },
    ]);
  });

  test('shows when its credential was last used', async () => {
    const credential = await credentialOf('rosa', 'viewer');
    const listed = async () =>
      (
        (await call('GET', '/operators', internal)).json() as { operators: { name: string; last_used_at: unknown }[] }
      ).operators.find(({ name }) => name === 'rosa')?.last_used_at;
    expect(await listed()).toBeNull();
    await exchange(credential);
    expect(await listed()).toMatch(/Z$/);
  });

  test.each(['O', 'Olga', 'o', '@olga', 'ol ga', 'olga\n', '-olga', 'ölga', 'a'.repeat(41)])(
    'cannot have the name %p',
    async (name) => expect((await add(name, 'viewer')).status).toBe(422),
  );

  test('cannot have another role', async () => expect((await add('eve', 'owner')).status).toBe(422));

  test.each(['', 'qo_', `qo_${'a'.repeat(43)}`, 'x'.repeat(255)])('%p is not a credential', async (credential) => {
    expect([401, 422]).toContain((await exchange(credential)).status);
  });

  test('that is added twice at the same time is added once', async () => {
    const answers = await Promise.all([add('nina', 'viewer'), add('nina', 'admin')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });
});
