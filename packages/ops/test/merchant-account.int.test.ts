import { describe, expect, test } from '@jest/globals';
import { runOps, startServices } from './world.ts';

const merchant = `mer_${'a'.repeat(32)}`;
const account = {
  ...{ merchant_id: merchant, name: 'Shop', display_name: 'Café', status: 'active', status_version: 1 },
  ...{ created_at: '2026-01-31T12:00:00.000Z', last_request_at: null },
};
const author = { actor: 'olga', reason: 'no reason given' };
const key = { name: 'web', scope: 'read', created_at: '2026-01-31T12:00:00.000Z', revoked_at: null };

describe('merchant key', () => {
  test('add shows the key once, in JSON as the service gave it', async () => {
    const added = { merchant_id: merchant, name: 'web', scope: 'read', api_key: 'qk_new' };
    await using services = await startServices({
      'POST /merchants/:id/api-keys': () => ({ status: 201, body: added }),
    });
    const words = ['merchant', 'key', 'add', merchant, '--name', 'web', '--scope', 'read'];
    expect((await runOps(words, services.env)).stdout).toContain('qk_new');
    expect(JSON.parse((await runOps([...words, '--json'], services.env)).stdout)).toEqual(added);
    expect(services.calls[0]?.body).toEqual({ name: 'web', scope: 'read', ...author });
    expect(await runOps([...words.slice(0, -1), 'write'], services.env)).toMatchObject({ code: 2 });
  });

  test('list shows names, scopes and times', async () => {
    await using services = await startServices({
      'GET /merchants/:id/api-keys': () => ({ status: 200, body: { merchant_id: merchant, keys: [key] } }),
    });
    const { code, stdout } = await runOps(['merchant', 'key', 'list', merchant], services.env);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/web +read +2026-01-31 12:00:00Z +-/)]);
  });

  test('revoke asks first, and says which merchant it is about', async () => {
    await using services = await startServices({
      'GET /merchants/:id': () => ({ status: 200, body: account }),
      'POST /merchants/:id/api-keys/revoke': () => ({ status: 200, body: { ...key, revoked_at: key.created_at } }),
    });
    const words = ['merchant', 'key', 'revoke', merchant, '--name', 'web'];
    expect(await runOps(words, services.env)).toMatchObject({ code: 2, stderr: expect.stringMatching(/add --yes/) });
    expect(services.calls).toEqual([]);
    expect(await runOps([...words, '--yes'], services.env)).toMatchObject({ code: 0 });
    expect(services.calls.at(-1)).toMatchObject({ body: { name: 'web', ...author } });
  });
});

describe('merchant replace-credentials', () => {
  const replaced = (api_keys: object[], logins: object[]) => ({
    ...{ merchant_id: merchant, api_key: 'qk_new', rotation_secret: 'qr_new' },
    still_working: { api_keys, logins },
  });
  const replace = async (answer: object) => {
    await using services = await startServices({
      'POST /merchants/:id/replace-credentials': () => ({ status: 200, body: answer }),
    });
    return (await runOps(['merchant', 'replace-credentials', merchant, '--yes'], services.env)).stdout;
  };

  test('says which further keys and logins still work, and the commands that end them', async () => {
    const login = { name: 'anna', created_at: key.created_at, last_used_at: null };
    const shown = await replace(replaced([key], [login]));
    for (const part of [
      ...[
        /qk_new/,
        /qr_new/,
        /still work\..*ops merchant key revoke mer_a+ --name NAME\n\nAPI keys\n.*\n +web +read +2026-01-31/,
      ],
      /still sign in\..*ops merchant login disable mer_a+ NAME\n\nlogins\n.*\n +anna +2026-01-31 12:00:00Z +-/,
    ])
      expect(shown).toMatch(part);
    expect(shown).not.toContain('No other');
  });

  test('says that nothing else works, where nothing does', async () => {
    expect(await replace(replaced([], []))).toMatch(/No other API key and no login of this merchant works\./);
  });
});

describe('merchant profile', () => {
  test('sets the name that customers see, or takes it away', async () => {
    await using services = await startServices({
      'POST /merchants/:id/profile': ({ body }) => ({
        status: 200,
        body: { display_name: (body as { display_name: string | null }).display_name },
      }),
    });
    const words = ['merchant', 'profile', merchant];
    expect((await runOps([...words, '--display-name', 'Café'], services.env)).stdout).toMatch(/display name +Café/);
    expect((await runOps([...words, '--none', '--json'], services.env)).stdout).toContain('"display_name": null');
    expect(await runOps(words, services.env)).toMatchObject({ code: 2 });
    expect(services.calls.map(({ body }) => body)).toEqual([
      { display_name: 'Café', ...author },
      { display_name: null, ...author },
    ]);
  });
});

test('merchant find asks for a part of the name, and show names the shop and access without limits', async () => {
  const unlimited = {
    ...{ access_type: 'legacy', total_limit: 1_000_000_000, daily_limit: null, package_number: 1 },
    ...{ beta_duration_days: null, beta_started_at: null, beta_expires_at: null },
  };
  await using services = await startServices({
    'GET /merchants': () => ({ status: 200, body: { merchants: [account] } }),
    'GET /merchants/:id': () => ({ status: 200, body: account }),
    'GET /merchants/:id/policy': () => ({
      status: 200,
      body: { ...unlimited, merchant_id: merchant, policy_version: 1, account_active: true, creation_paused: false },
    }),
    'GET /merchants/:id/gate': () => ({ status: 404, body: {} }),
  });
  expect((await runOps(['merchant', 'find', 'caf'], services.env)).stdout).toMatch(/Shop +Café +active/);
  expect(services.calls[0]?.query).toBe('name=caf');
  const { stdout } = await runOps(['merchant', 'show', merchant], services.env);
  expect(stdout).toMatch(/shown as +Café/);
  expect(stdout).toMatch(/limits +unlimited/);
});

describe('merchant create', () => {
  test('--unlimited asks for access without limits, and takes none beside it', async () => {
    await using services = await startServices({
      'POST /merchants': () => ({
        status: 201,
        body: { merchant_id: merchant, api_key: 'key', rotation_secret: 'secret' },
      }),
      'GET /merchants/:id/policy': () => ({
        status: 200,
        body: {
          ...{
            merchant_id: merchant,
            policy_version: 1,
            access_type: 'legacy',
            account_active: true,
            package_number: 1,
          },
          ...{ creation_paused: false, total_limit: 1_000_000_000, daily_limit: null },
          ...{ beta_duration_days: null, beta_started_at: null, beta_expires_at: null },
        },
      }),
    });
    const words = ['merchant', 'create', '--name', 'Mine', '--unlimited'];
    expect(await runOps(words, services.env)).toMatchObject({ code: 0 });
    expect(services.calls[0]?.body).toEqual({
      name: 'Mine',
      access_type: 'legacy',
      total_limit: 1_000_000_000,
      daily_limit: null,
      ...author,
    });
    for (const more of [
      ['--total', '5'],
      ['--daily', 'none'],
      ['--days', '3'],
      ['--access', 'beta'],
    ])
      expect(await runOps([...words, ...more], services.env)).toMatchObject({ code: 2 });
    expect(services.calls.filter(({ path }) => path === '/merchants')).toHaveLength(1);
  });
});
