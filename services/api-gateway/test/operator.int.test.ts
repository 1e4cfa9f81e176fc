import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { internal, testGateway, type TestGateway } from './gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway.close());

const note = { actor: 'ada', reason: 'ticket 12' };
const operate = (method: string, path: string, body?: object) =>
  gateway.call(method, `/internal/v1/merchants${path}`, { headers: internal, ...(body !== undefined && { body }) });
const register = async (body: object) =>
  String((await operate('POST', '', { ...note, ...body })).json()['merchant_id']);

type Message = { name: string; body: Record<string, unknown> };
const messagesOf = async (merchantId: string): Promise<Message[]> =>
  (
    await gateway.pool.query<{ name: string; body: string }>(
      'select name, body from outbox where merchant_id = $1 order by created_at',
      [merchantId],
    )
  ).rows.map(({ name, body }) => ({ name, body: JSON.parse(body) as Record<string, unknown> }));
const auditOf = async (merchantId: string) =>
  (
    await gateway.pool.query<{ action: string; actor: string; reason: string }>(
      'select action, actor, reason from merchant_audit where merchant_id = $1 order by at',
      [merchantId],
    )
  ).rows;

type Entry = { at: string; action: string; actor: string; reason: string; before: object | null; after: object | null };
const entriesOf = async (merchantId: string, query = '') =>
  (await operate('GET', `/${merchantId}/audit${query}`)).json()['entries'] as Entry[];

describe('the audit of an account', () => {
  test('has the actor, action, time, reason, before and after of each change, newest first', async () => {
    const registered = await operate('POST', '', { name: 'Shop', access_type: 'beta', ...note });
    const { merchant_id: merchantId, rotation_secret: secret } = registered.json() as Record<string, string>;
    const why = (reason: string) => ({ actor: 'olga', reason });
    await operate('POST', `/${merchantId}/block`, why('fraud'));
    await operate('POST', `/${merchantId}/unblock`, why('a mistake'));
    const rotated = await gateway.call('POST', '/api/v1/merchant/rotate-key', { headers: { 'secret-key': secret! } });
    expect(rotated.status).toBe(200);
    const replaced = await operate('POST', `/${merchantId}/replace-credentials`, why('lost'));
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
    const entries = await entriesOf(merchantId!);
    expect(entries).toEqual([
      {
        ...{ at: time, action: 'replace_credentials', ...why('lost') },
        before: { api_key_created_at: time, rotation_secret_created_at: time },
        after: { api_key_created_at: time, rotation_secret_created_at: time },
      },
      {
        ...{ at: time, action: 'rotate_api_key', actor: 'merchant', reason: expect.any(String) as unknown },
        ...{ before: { api_key_created_at: time }, after: { api_key_created_at: time } },
      },
      {
        ...{ at: time, action: 'unblock', ...why('a mistake') },
        before: { status: 'blocked', status_version: 2 },
        after: { status: 'active', status_version: 3 },
      },
      {
        ...{ at: time, action: 'block', ...why('fraud') },
        before: { status: 'active', status_version: 1 },
        after: { status: 'blocked', status_version: 2 },
      },
      {
        ...{ at: time, action: 'register', ...note, before: null },
        after: { name: 'Shop', status: 'active', status_version: 1 },
      },
    ]);
    // Each change of the key starts from the result of the one before.
    const [replacement, rotation] = entries as { before: Record<string, string>; after: Record<string, string> }[];
    expect(replacement!.before['api_key_created_at']).toBe(rotation!.after['api_key_created_at']);
    expect(rotation!.before['api_key_created_at']! < rotation!.after['api_key_created_at']!).toBe(true);
    const text = JSON.stringify(entries);
    for (const credential of [secret, rotated.json()['new_api_key'], replaced.json()['api_key']]) {
      expect(text).not.toContain(String(credential));
    }
    expect(await entriesOf(merchantId!, `?before=${entries[2]!.at}`)).toEqual(
      entries.filter(({ at }) => at < entries[2]!.at),
    );
  });

  test('has the rows of an older release, without before and after', async () => {
    const merchantId = await register({ name: 'Shop', access_type: 'beta' });
    await gateway.pool.query(
      `insert into merchant_audit (merchant_id, action, actor, reason) values ($1, 'block', 'ada', 'old')`,
      [merchantId],
    );
    expect((await entriesOf(merchantId))[0]).toMatchObject({ reason: 'old', before: null, after: null });
  });

  test('is 404 for an unknown merchant and 422 for an invalid time', async () => {
    await expect(operate('GET', `/${newId('mer')}/audit`)).resolves.toMatchObject({ status: 404 });
    const merchantId = await register({ name: 'Shop', access_type: 'beta' });
    for (const before of ['yesterday', '2026-02-31', '2026-13-01T00:00:00Z']) {
      await expect(operate('GET', `/${merchantId}/audit?before=${before}`)).resolves.toMatchObject({ status: 422 });
    }
  });

  test('has one row for each of several concurrent blocks that changed something', async () => {
    const merchantId = await register({ name: 'Shop', access_type: 'beta' });
    const blocks = Array.from({ length: 8 }, () => operate('POST', `/${merchantId}/block`, note));
    expect((await Promise.all(blocks)).map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect((await entriesOf(merchantId)).map(({ action }) => action)).toEqual(['block', 'register']);
  });
});

describe('registering a merchant', () => {
  test('shows its credentials once, publishes it and audits it, all or nothing', async () => {
    const answer = await operate('POST', '', { name: 'Shop', access_type: 'beta', ...note });
    expect(answer.status).toBe(201);
    const { merchant_id: merchantId, ...credentials } = answer.json();
    expect(merchantId).toMatch(/^mer_[0-9a-f]{32}$/);
    expect(credentials).toEqual({
      api_key: expect.stringMatching(/^qk_[\w-]{43}$/) as unknown,
      rotation_secret: expect.stringMatching(/^qr_[\w-]{43}$/) as unknown,
    });
    expect(await messagesOf(String(merchantId))).toMatchObject([
      {
        name: 'MerchantRegistered',
        body: {
          merchant_id: merchantId,
          name: 'Shop',
          access_type: 'beta',
          total_limit: 100,
          daily_limit: 10,
          beta_duration_days: 30,
        },
      },
    ]);
    expect(await auditOf(String(merchantId))).toEqual([{ action: 'register', ...note }]);
    const shown = await operate('GET', `/${String(merchantId)}`);
    expect(shown.json()).toMatchObject({
      merchant_id: merchantId,
      name: 'Shop',
      status: 'active',
      status_version: 1,
      last_request_at: null,
    });
    expect(shown.text).not.toMatch(/key|secret|hash/);
  });

  test('gives a legacy account its own total limit, without an end or a daily limit', async () => {
    const merchantId = await register({ name: 'Old shop', access_type: 'legacy', total_limit: 7 });
    expect((await messagesOf(merchantId))[0]?.body).toMatchObject({
      access_type: 'legacy',
      total_limit: 7,
      daily_limit: null,
      beta_duration_days: null,
    });
  });

  test.each([
    [{ name: '', access_type: 'gold', ...note }, ['access_type', 'name']],
    [{ name: 'Shop', access_type: 'legacy', beta_duration_days: 3, ...note }, ['beta_duration_days', 'total_limit']],
    [
      { name: 'Shop', access_type: 'beta', total_limit: 1.5, daily_limit: -1 },
      ['actor', 'daily_limit', 'reason', 'total_limit'],
    ],
    [{ name: 'a\u0000b', access_type: 'beta', ...note, more: 1 }, ['more', 'name']],
  ])('refuses %j', async (body, fields) => {
    const answer = await operate('POST', '', body);
    expect(answer.status).toBe(422);
    expect((answer.json()['detail'] as { field: string }[]).map(({ field }) => field).sort()).toEqual(fields);
  });

  test('needs the internal token', async () => {
    for (const headers of [{}, { 'X-Internal-Token': 'x' }]) {
      const answer = await gateway.call('POST', '/internal/v1/merchants', {
        headers,
        body: { name: 'Shop', access_type: 'beta', ...note },
      });
      expect(answer.status).toBe(401);
    }
  });
});

describe('blocking and unblocking', () => {
  test('increase the status version, are published and audited; repeating one changes nothing', async () => {
    const merchantId = await register({ name: 'Shop', access_type: 'beta' });
    for (const action of ['block', 'block', 'unblock', 'unblock']) {
      const answer = await operate('POST', `/${merchantId}/${action}`, note);
      expect([answer.status, answer.json()['status']]).toEqual([200, action === 'block' ? 'blocked' : 'active']);
    }
    const changes = (await messagesOf(merchantId)).filter(({ name }) => name === 'MerchantStatusChanged');
    expect(changes.map(({ body }) => [body['status'], body['status_version']])).toEqual([
      ['blocked', 2],
      ['active', 3],
    ]);
    expect((await auditOf(merchantId)).map(({ action }) => action)).toEqual(['register', 'block', 'unblock']);
  });

  test('need an actor, a reason and an existing merchant', async () => {
    const merchantId = await register({ name: 'Shop', access_type: 'beta' });
    await expect(operate('POST', `/${merchantId}/block`, {})).resolves.toMatchObject({ status: 422 });
    for (const action of ['block', 'unblock', 'replace-credentials']) {
      for (const id of [newId('mer'), 'mer_x']) {
        await expect(operate('POST', `/${id}/${action}`, note)).resolves.toMatchObject({ status: 404 });
      }
    }
  });
});

test('the list has the newest merchants first and continues after a given one', async () => {
  const older = await register({ name: 'Older', access_type: 'beta' });
  const newer = await register({ name: 'Newer', access_type: 'beta' });
  const ids = async (query: string) =>
    ((await operate('GET', query)).json()['merchants'] as { merchant_id: string }[]).map(({ merchant_id: id }) => id);
  expect((await ids('')).slice(0, 2)).toEqual([newer, older].sort().reverse());
  expect(await ids(`?before=${newer}`)).not.toContain(newer);
  await expect(operate('GET', '?before=x')).resolves.toMatchObject({ status: 422 });
});
