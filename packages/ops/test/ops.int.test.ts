import { describe, expect, test } from '@jest/globals';
import { runOps, startServices } from './world.ts';
import { newSigningKey } from '@quittance/runtime/trust.ts';

// Each command is a process of its own, which a busy machine may be slow to start.
const merchant = `mer_${'a'.repeat(32)}`;
const payment = `pay_${'b'.repeat(32)}`;
const event = `evt_${'c'.repeat(32)}`;
const policy = {
  ...{ merchant_id: merchant, policy_version: 4, access_type: 'beta', creation_paused: true, account_active: true },
  ...{ beta_duration_days: 30, beta_started_at: null, beta_expires_at: null, total_limit: 100, daily_limit: 10 },
  package_number: 1,
};
const author = { actor: 'olga', reason: 'no reason given' };
const account = {
  ...{ merchant_id: merchant, name: 'Shop', display_name: null, status: 'active', status_version: 1 },
  ...{ created_at: '2026-01-31T12:00:00.000Z', last_request_at: null },
};
const created = { merchant_id: merchant, api_key: 'key', rotation_secret: 'secret' };

describe('merchant create', () => {
  test('shows the credentials and ends only when quota knows the merchant', async () => {
    await using services = await startServices({
      'POST /merchants': () => ({ status: 201, body: created }),
      'GET /merchants/:id/policy': ({ nth }) =>
        nth < 3 ? { status: 404, body: { detail: 'Merchant not found' } } : { status: 200, body: policy },
    });
    const words = [
      'merchant',
      'create',
      '--name',
      'Shop',
      '--total',
      '50',
      '--daily',
      'none',
      '--days',
      '14',
      '--json',
    ];
    const result = await runOps([...words, '--reason', 'signed up'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout)).toEqual(created);
    expect(services.calls[0]?.body).toEqual({
      name: 'Shop',
      access_type: 'beta',
      total_limit: 50,
      daily_limit: null,
      beta_duration_days: 14,
      actor: 'olga',
      reason: 'signed up',
    });
    expect(services.calls.filter(({ path }) => path.endsWith('/policy'))).toHaveLength(3);
  });

  test('still shows the credentials when the merchant does not reach quota in time', async () => {
    await using services = await startServices({ 'POST /merchants': () => ({ status: 201, body: created }) });
    const result = await runOps(['merchant', 'create', '--name', 'Shop', '--json', '--wait', '1'], services.env);
    expect(result).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/registered as shown.*not create it again/),
    });
    expect(JSON.parse(result.stdout)).toEqual(created);
  });
});

test.each([
  [['--per-minute', '60'], 60],
  [['--default'], null],
])('creations a minute are set by %j, and shown', async (words, creations) => {
  await using services = await startServices({
    'POST /merchants/:id/creation-rate': () => ({ status: 200, body: { ...account, creations_per_minute: creations } }),
  });
  const result = await runOps(['merchant', 'set-creation-rate', merchant, ...words], services.env);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(/creations a minute +60/.test(result.stdout)).toBe(creations === 60);
  expect(services.calls[0]?.body).toEqual({ ...author, creations_per_minute: creations });
});

describe('a restriction', () => {
  test.each([
    ['pause', ['merchant', 'pause', merchant], author],
    ['limits', ['merchant', 'set-limits', merchant, '--total', '5'], { ...author, total_limit: 5 }],
  ])('(%s) ends only when payments has applied its version', async (path, words, body) => {
    await using services = await startServices({
      [`POST /merchants/:id/${path}`]: () => ({ status: 200, body: policy }),
      'GET /merchants/:id/gate': ({ nth }) =>
        nth === 1
          ? { status: 404, body: { detail: 'unknown' } }
          : { status: 200, body: { policy_version: nth, account_active: true } },
    });
    const result = await runOps([...words, '--json'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout)).toEqual(policy);
    expect(services.calls[0]?.body).toEqual(body);
    expect(services.calls.filter((call) => call.path.endsWith('/gate'))).toHaveLength(4);
  });

  test('that payments does not apply in time is not reported as done', async () => {
    await using services = await startServices({
      'POST /merchants/:id/pause': () => ({ status: 200, body: policy }),
      'GET /merchants/:id/gate': () => ({ status: 503, body: { detail: 'Service temporarily unavailable' } }),
    });
    const result = await runOps(['merchant', 'pause', merchant, '--wait', '1'], services.env);
    expect(result).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/saved, but payments has not applied/),
    });
  });

  test('block waits until quota has received it, and payments what quota made of it', async () => {
    await using services = await startServices({
      'POST /merchants/:id/block': () => ({ status: 200, body: { ...account, status: 'blocked', status_version: 4 } }),
      'GET /merchants/:id/account-status': ({ nth }) => ({
        status: 200,
        body: { status_version: nth < 3 ? 2 : 4, policy_version: nth < 3 ? 6 : 8 },
      }),
      'GET /merchants/:id/gate': ({ nth }) => ({ status: 200, body: { policy_version: nth + 5 } }),
    });
    const result = await runOps(['merchant', 'block', merchant, '--yes', '--json'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(services.calls.map(({ path }) => path.split('/').at(-1))).toEqual([
      'block',
      ...Array<string>(3).fill('account-status'),
      ...Array<string>(3).fill('gate'),
    ]);
  });

  test('is looked for once even when there is no time to wait', async () => {
    await using services = await startServices({
      'POST /merchants/:id/pause': () => ({ status: 200, body: policy }),
      'GET /merchants/:id/gate': () => ({ status: 200, body: policy }),
    });
    const result = await runOps(['merchant', 'pause', merchant, '--wait', '0'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('destructive commands', () => {
  test.each([
    ['block', ['merchant', 'block', merchant]],
    ['replace-credentials', ['merchant', 'replace-credentials', merchant]],
    ['wallet release', ['wallet', 'release', '0x00000000000000000000000000000000000000A1']],
  ])('%s does nothing without a terminal or --yes', async (_name, words) => {
    await using services = await startServices({});
    const result = await runOps(words, services.env);
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/add --yes/) });
    expect(services.calls).toEqual([]);
  });

  test('a program, which asks for JSON, is not asked back', async () => {
    await using services = await startServices({
      'POST /merchants/:id/replace-credentials': () => ({
        status: 200,
        body: { merchant_id: merchant, api_key: 'qk_x' },
      }),
    });
    const result = await runOps(['merchant', 'replace-credentials', merchant, '--json'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout)).toEqual({ merchant_id: merchant, api_key: 'qk_x' });
  });
});

describe('each command asks the service that owns the answer', () => {
  test.each([
    [
      'GET',
      '/wallets/T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
      ['wallet', 'show', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
      null,
    ],
    [
      'POST',
      `/merchants/${merchant}/replace-credentials`,
      ['merchant', 'replace-credentials', merchant, '--yes'],
      author,
    ],
    [
      'POST',
      '/wallets/T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb/release',
      ['wallet', 'release', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', '--yes'],
      author,
    ],
    [
      'POST',
      '/wallets/T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb/challenge',
      ['wallet', 'challenge', merchant, 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
      { merchant_id: merchant },
    ],
    ['GET', `/payments/${payment}`, ['payment', 'show', payment], null],
    ['GET', '/chains', ['chain', 'status'], null],
  ])('%s %s', async (method, path, words, body) => {
    const answer = { answered: `${method} ${path}` };
    await using services = await startServices({ [`${method} ${path}`]: () => ({ status: 200, body: answer }) });
    const result = await runOps([...words, '--json'], services.env);
    expect(result).toEqual({ code: 0, stderr: '', stdout: `${JSON.stringify(answer, null, 2)}\n` });
    expect(services.calls).toEqual([{ method, path, query: '', body }]);
  });

  test.each([
    ['activate', [], {}],
    ['extend', ['--days', '7'], { days: 7 }],
    ['resume', [], {}],
  ])('merchant %s goes to quota', async (word, options, fields) => {
    await using services = await startServices({
      [`POST /merchants/:id/${word}`]: () => ({ status: 200, body: policy }),
      'GET /merchants/:id/gate': () => ({ status: 200, body: policy }),
    });
    const result = await runOps(['merchant', word, merchant, ...options, '--json'], services.env);
    expect(result).toEqual({ code: 0, stderr: '', stdout: `${JSON.stringify(policy, null, 2)}\n` });
    expect(services.calls[0]).toMatchObject({ method: 'POST', body: { ...author, ...fields } });
  });

  test('a permission ends well although it never reaches payments', async () => {
    await using services = await startServices({
      'POST /merchants/:id/resume': () => ({ status: 200, body: policy }),
    });
    const result = await runOps(['merchant', 'resume', merchant, '--json'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  test('merchant move-to-beta sends the conditions that are given, and asks at a terminal only', async () => {
    await using services = await startServices({
      'POST /merchants/:id/move-to-beta': () => ({ status: 200, body: policy }),
      'GET /merchants/:id/gate': () => ({ status: 200, body: policy }),
    });
    const words = ['merchant', 'move-to-beta', merchant, '--total', '5', '--days', '9'];
    expect(await runOps(words, services.env)).toMatchObject({ code: 2, stderr: expect.stringMatching(/add --yes/) });
    expect(services.calls).toEqual([]);
    expect(await runOps([...words, '--yes'], services.env)).toMatchObject({ code: 0, stderr: '' });
    expect(services.calls[0]?.body).toEqual({ ...author, total_limit: 5, beta_duration_days: 9 });
  });

  test('merchant show puts account, policy and gate together, and says who does not know it yet', async () => {
    await using services = await startServices({
      'GET /merchants/:id': () => ({ status: 200, body: { ...account, name: 'Shop\u001b[2J\u202e' } }),
      'GET /merchants/:id/policy': () => ({ status: 200, body: policy }),
    });
    expect(await runOps(['merchant', 'show', merchant], services.env)).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        `merchant        ${merchant}`,
        'name            Shop [2J',
        'account         active, registered 2026-01-31',
        'last request    none yet',
        'access          beta of 30 days, not activated',
        'creation        paused',
        'limits          100 in total, 10 a UTC day',
        'policy version  4',
        'enforced        payments does not know this merchant yet',
        '',
      ].join('\n'),
    });
  });
});

test('merchant show says of a blocked merchant once that it is, even when only quota answers', async () => {
  const blocked = { ...policy, account_active: false };
  await using services = await startServices({
    'GET /merchants/:id': () => ({ status: 200, body: { ...account, status: 'blocked' } }),
    'GET /merchants/:id/policy': () => ({ status: 200, body: blocked }),
  });
  const accountLines = async (env: Record<string, string>) =>
    (await runOps(['merchant', 'show', merchant], env)).stdout.split('\n').filter((line) => /^account /.test(line));
  expect(await accountLines(services.env)).toEqual(['account         blocked, registered 2026-01-31']);
  const env = { ...services.env, API_GATEWAY_URL: 'http://127.0.0.1:1' };
  expect(await accountLines(env)).toEqual(['account         blocked']);
});

describe('merchant show, while a service is away', () => {
  test('shows what the others say, names the one that did not answer, and exits 3', async () => {
    await using services = await startServices({
      'GET /merchants/:id': () => ({ status: 200, body: { merchant_id: merchant } }),
      'GET /merchants/:id/gate': () => ({ status: 200, body: { policy_version: 1 } }),
      'GET /merchants/:id/limits': () => ({ status: 200, body: { requests_used: 3 } }),
    });
    const env = { ...services.env, QUOTA_URL: 'http://127.0.0.1:1' };
    const result = await runOps(['merchant', 'show', merchant, '--json'], env);
    expect(result).toMatchObject({ code: 3, stderr: expect.stringMatching(/^quota at http.*ECONNREFUSED.*\n$/) });
    expect(JSON.parse(result.stdout)).toEqual({
      merchant: { merchant_id: merchant },
      gate: { policy_version: 1 },
      limits: { requests_used: 3 },
    });
  });

  test('shows nothing when none of them answers, and names all three', async () => {
    const nobody = 'http://127.0.0.1:1';
    await using services = await startServices({});
    const env = { ...services.env, API_GATEWAY_URL: nobody, QUOTA_URL: nobody, PAYMENTS_URL: nobody };
    const result = await runOps(['merchant', 'show', merchant], env);
    expect(result).toMatchObject({ code: 3, stdout: '' });
    expect(
      result.stderr
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(['api-gateway', 'quota', 'payments']);
  });

  test('a merchant that does not exist is refused, whichever service is away', async () => {
    await using services = await startServices({});
    const env = { ...services.env, PAYMENTS_URL: 'http://127.0.0.1:1' };
    const { code, stderr } = await runOps(['merchant', 'show', merchant], env);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^api-gateway refused \(404\)/)]);
  });
});

test.each([
  ['before the command', ['--json', 'chain', 'status']],
  ['between its words', ['chain', '--json', 'status']],
  ['after it', ['chain', 'status', '--json']],
])('--json counts %s', async (_where, words) => {
  await using services = await startServices({ 'GET /chains': () => ({ status: 200, body: { chains: [] } }) });
  expect(await runOps(words, services.env)).toEqual({ code: 0, stderr: '', stdout: '{\n  "chains": []\n}\n' });
});

describe('exit codes', () => {
  test('1 when the service refuses, with its reason and nothing on stdout', async () => {
    await using services = await startServices({
      'POST /merchants/:id/activate': () => ({ status: 409, body: { detail: 'The beta is already active' } }),
      'POST /merchants/:id/extend': () => ({
        status: 422,
        body: { detail: [{ field: 'days', reason: 'must be >= 1' }] },
      }),
    });
    const activate = await runOps(['merchant', 'activate', merchant, '--json'], services.env);
    expect(activate).toEqual({ code: 1, stdout: '', stderr: 'quota refused (409): The beta is already active\n' });
    const extend = await runOps(['merchant', 'extend', merchant, '--days', '0'], services.env);
    expect(extend).toEqual({ code: 1, stdout: '', stderr: 'quota refused (422): days must be >= 1\n' });
    const stranger = await runOps(['merchant', 'activate', merchant], {
      ...services.env,
      SIGNING_KEY: newSigningKey(),
    });
    expect(stranger).toEqual({ code: 1, stdout: '', stderr: 'quota does not accept this SIGNING_KEY.\n' });
  });

  test.each([
    ['an unknown command', ['merchant', 'destroy', merchant]],
    ['no command', []],
    ['an unknown option', ['merchant', 'list', '--jsno']],
    ['an id of another thing', ['merchant', 'show', payment]],
    ['a negative limit', ['merchant', 'set-limits', merchant, '--total', '-5']],
    ['no event at all', ['webhook', 'retry']],
    ['events and all of them', ['webhook', 'retry', event, '--all-failed']],
    ['a merchant without --all-failed', ['webhook', 'retry', event, '--merchant', merchant]],
    ['a wallet that is none', ['wallet', 'show', '..']],
    ['a wallet with a wrong checksum', ['wallet', 'show', '0x4b57f59031D936f01AE42dCac8704330eEC41173']],
    ['a time that is none', ['merchant', 'audit', merchant, '--before', 'yesterday']],
    ['a day that is none', ['merchant', 'usage', merchant, '--before', '2026-02-31x']],
    ['no limit at all', ['merchant', 'set-limits', merchant]],
    ['two rates', ['merchant', 'set-creation-rate', merchant, '--per-minute', '60', '--default']],
    ['an unknown queue', ['dead-letter', 'redrive', 'nowhere']],
  ])('2 for %s', async (_name, words) => {
    await using services = await startServices({});
    const result = await runOps(words, services.env);
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/\w/) });
    expect(services.calls).toEqual([]);
  });

  test('2 without an address, naming the setting', async () => {
    await using services = await startServices({});
    const result = await runOps(['merchant', 'list'], { ...services.env, API_GATEWAY_URL: 'not a url' });
    expect(result).toMatchObject({ code: 2, stderr: expect.stringMatching(/API_GATEWAY_URL/) });
  });

  test('3 when the service does not answer, naming it', async () => {
    await using services = await startServices({});
    const nobody = await runOps(['chain', 'status'], { ...services.env, CHAIN_WATCHER_URL: 'http://127.0.0.1:1' });
    expect(nobody).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/chain-watcher at http:.*ECONNREFUSED/),
    });
  });

  test('3 when something else answers there, and a change that may have been done says so', async () => {
    await using services = await startServices({
      'GET /merchants': () => ({ status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }),
      'POST /merchants/:id/activate': () => ({ status: 500, body: { detail: 'broken' } }),
    });
    const strange = await runOps(['merchant', 'list'], services.env);
    expect(strange).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/is no JSON/) });
    const doubtful = await runOps(['merchant', 'activate', merchant], services.env);
    expect(doubtful).toMatchObject({ code: 3, stderr: expect.stringMatching(/may have been done all the same/) });
    const nobody = { ...services.env, QUOTA_URL: 'http://127.0.0.1:1' };
    const unsent = await runOps(['merchant', 'activate', merchant], nobody);
    expect(unsent).toMatchObject({ code: 3, stderr: expect.not.stringMatching(/may have been done/) });
  });

  test('0 for help', async () => {
    expect(await runOps(['merchant', '--help'], {})).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/replace-credentials/),
    });
  });
});
