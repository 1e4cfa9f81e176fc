import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { replaceCredentials } from '../src/merchants/merchant.sql.ts';
import { internal, testGateway, type Merchant, type TestGateway } from './gateway.ts';

let gateway: TestGateway;
let merchant: Merchant;

beforeAll(async () => {
  gateway = await testGateway();
});
beforeEach(async () => {
  merchant = await gateway.merchant();
  const limits = `GET /internal/v1/merchants/${merchant.merchant_id}/limits`;
  gateway.payments.answers.set(limits, { status: 200, body: { merchant_id: merchant.merchant_id } });
});
afterAll(() => gateway.close());

const rotate = (secret: string, to = gateway.call) =>
  to('POST', '/api/v1/merchant/rotate-key', { headers: { 'secret-key': secret } });
const statusWith = async (key: string, to = gateway.call): Promise<number> =>
  (await to('GET', '/api/v1/merchant/limits', { headers: { 'X-API-Key': key } })).status;
const note = { actor: 'support', reason: 'the secret was lost' };

describe('API-key rotation', () => {
  test('makes the old key invalid and the new one valid immediately, on every replica', async () => {
    const other = await gateway.replica();
    expect(await statusWith(merchant.api_key, other.call)).toBe(200);
    const { status, headers, ...answer } = await rotate(merchant.rotation_secret);
    const { new_api_key: newKey } = answer.json() as { new_api_key: string };
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(newKey).toMatch(/^qk_[\w-]{43}$/);
    for (const to of [gateway.call, other.call]) {
      expect(await statusWith(merchant.api_key, to)).toBe(401);
      expect(await statusWith(newKey, to)).toBe(200);
    }
  });

  test('that is committed is never answered as a failure, even if the database is slow: 503 means that the old key stays', async () => {
    const proxy = await faultProxy({ target: gateway.databaseUrl });
    const far = await gateway.replica(proxy.url);
    expect(await statusWith(merchant.api_key, far.call)).toBe(200);
    try {
      // Round trips for begin, the statement and commit: the last one starts in time, and ends after the request's time limit.
      for (const delayMs of [300, 310, 320]) {
        proxy.delay(delayMs);
        const { status, ...answer } = await rotate(merchant.rotation_secret, far.call);
        const alive = status === 200 ? String(answer.json()['new_api_key']) : merchant.api_key;
        expect([status, await statusWith(alive)]).toEqual([status, 200]);
        merchant.api_key = alive;
      }
    } finally {
      await proxy.close();
    }
  });

  test('five at once leave exactly one key alive', async () => {
    const other = await gateway.replica();
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => rotate(merchant.rotation_secret, n % 2 ? gateway.call : other.call)),
    );
    const keys = answers.map((answer) => String(answer.json()['new_api_key']));
    const alive = await Promise.all([merchant.api_key, ...keys].map((key) => statusWith(key)));
    expect(alive.filter((status) => status === 200)).toHaveLength(1);
  });

  test('counts attempts per supplied secret, including unknown ones, and does not rotate above the limit', async () => {
    const unknown = newSecret('qr');
    for (let n = 0; n < 5; n += 1) expect((await rotate(unknown)).status).toBe(401);
    const limited = await rotate(unknown);
    expect([limited.status, limited.text]).toEqual([429, '{"detail":"Rate limit exceeded","code":"rate_limited"}']);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThanOrEqual(1);

    let key = merchant.api_key;
    for (let n = 0; n < 5; n += 1) key = String((await rotate(merchant.rotation_secret)).json()['new_api_key']);
    expect((await rotate(merchant.rotation_secret)).status).toBe(429);
    expect(await statusWith(key)).toBe(200);
  });

  test('without a secret, or with an empty one, is 401 and counts nothing', async () => {
    const before = await windows();
    for (const headers of [{}, { 'secret-key': '' }, { 'secret-key': ['', ''] }, { 'X-API-Key': merchant.api_key }]) {
      expect((await gateway.call('POST', '/api/v1/merchant/rotate-key', { headers })).status).toBe(401);
    }
    expect(await windows()).toBe(before);
  });

  test('does not reset the counters of the merchant', async () => {
    const read = async (key: string) => {
      await statusWith(key);
      const { rows } = await gateway.pool.query<{ count: number }>(
        `select count from rate_limit_window where scope = 'shared_reads' and subject = $1`,
        [merchant.merchant_id],
      );
      return rows[0]?.count;
    };
    expect(await read(merchant.api_key)).toBe(1);
    const { new_api_key: newKey } = (await rotate(merchant.rotation_secret)).json();
    expect(await read(String(newKey))).toBe(2);
  });
});

const windows = async (): Promise<bigint | undefined> =>
  (await gateway.pool.query<{ n: bigint }>('select count(*) as n from rate_limit_window')).rows[0]?.n;

describe('a blocked merchant', () => {
  test('gets 401 for its key and its rotation secret until it is unblocked', async () => {
    const path = `/internal/v1/merchants/${merchant.merchant_id}`;
    await gateway.call('POST', `${path}/block`, { headers: internal, body: note });
    expect(await statusWith(merchant.api_key)).toBe(401);
    expect((await rotate(merchant.rotation_secret)).status).toBe(401);
    await gateway.call('POST', `${path}/unblock`, { headers: internal, body: note });
    expect(await statusWith(merchant.api_key)).toBe(200);
  });
});

describe('replaced credentials', () => {
  test('make a running rotation with the old secret fail', async () => {
    const fresh = { api_key: newSecret('qk'), rotation_secret: newSecret('qr') };
    const hashes = { keyHash: sha256(fresh.api_key), secretHash: sha256(fresh.rotation_secret) };
    const rotation = await transaction(gateway.pool, async (tx) => {
      await replaceCredentials(tx, merchant.merchant_id, hashes);
      const underWay = rotate(merchant.rotation_secret);
      await eventually(async () => {
        const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        expect((await gateway.pool.query(waiting)).rowCount).toBe(1);
      });
      // Returned unawaited in an object: it can only end after this transaction.
      return { underWay };
    });
    expect((await rotation.underWay).status).toBe(401);
    expect(await statusWith(fresh.api_key)).toBe(200);
  });

  test('come with the names of all additional keys and logins, which stay active', async () => {
    const at = (below: string, body: object = {}) =>
      gateway.call('POST', `/internal/v1/merchants/${merchant.merchant_id}${below}`, {
        headers: internal,
        body: { ...note, ...body },
      });
    const stillWorking = async () => (await at('/replace-credentials')).json()['still_working'];
    expect(await stillWorking()).toEqual({ api_keys: [], logins: [] });
    const further = String((await at('/api-keys', { name: 'reports', scope: 'read' })).json()['api_key']);
    await at('/api-keys', { name: 'old', scope: 'all' });
    await at('/api-keys/revoke', { name: 'old' });
    for (const name of ['anna', 'bob']) await at('/logins', { name });
    await at('/logins/bob/disable');
    const time = expect.stringMatching(/^\d{4}-.+Z$/) as unknown;
    expect(await stillWorking()).toEqual({
      api_keys: [{ name: 'reports', scope: 'read', created_at: time }],
      logins: [{ name: 'anna', created_at: time, last_used_at: null }],
    });
    expect(await statusWith(further)).toBe(200);
  });

  test('end both old ones, even if a rotation runs at the same time', async () => {
    const path = `/internal/v1/merchants/${merchant.merchant_id}/replace-credentials`;
    const [replaced, ...rotations] = await Promise.all([
      gateway.call('POST', path, { headers: internal, body: note }),
      ...Array.from({ length: 4 }, () => rotate(merchant.rotation_secret)),
    ]);
    const stolen = rotations
      .filter(({ status }) => status === 200)
      .map((answer) => String(answer.json()['new_api_key']));
    expect(await Promise.all([merchant.api_key, ...stolen].map((key) => statusWith(key)))).toEqual(
      [merchant.api_key, ...stolen].map(() => 401),
    );
    expect((await rotate(merchant.rotation_secret)).status).not.toBe(200);
    const fresh = replaced.json() as Merchant;
    expect(fresh.merchant_id).toBe(merchant.merchant_id);
    expect(await statusWith(fresh.api_key)).toBe(200);
    expect((await rotate(fresh.rotation_secret)).status).toBe(200);
  });
});

test('no credential and no public token is logged or stored in plain text', async () => {
  const token = 'canary-public-token-0123456789-abcdefghijk_';
  const stray = newSecret('qk');
  const { new_api_key: newKey } = (await rotate(merchant.rotation_secret)).json();
  await statusWith(String(newKey));
  await statusWith(stray);
  await gateway.call('GET', `/api/v1/payments/${token}`);
  await gateway.call('GET', `/pay/${token}`);
  await gateway.call('GET', `/api/v1/payments?api_key=${stray}`);
  const { rows } = await gateway.pool.query<{ dump: string }>(
    `select concat_ws(' ',
       (select string_agg(t::text, ' ') from merchant t), (select string_agg(t::text, ' ') from api_key t),
       (select string_agg(t::text, ' ') from rotation_secret t), (select string_agg(t::text, ' ') from rate_limit_window t),
       (select string_agg(t::text, ' ') from merchant_audit t), (select string_agg(t::text, ' ') from outbox t)) as dump`,
  );
  const asked = JSON.stringify(gateway.payments.received);
  for (const secret of [merchant.api_key, merchant.rotation_secret, String(newKey), stray, token]) {
    for (const text of [gateway.logs(), rows[0]?.dump ?? '', asked]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('hex'));
    }
  }
  expect(gateway.logs()).toContain('/api/v1/payments/:public_token');
});
