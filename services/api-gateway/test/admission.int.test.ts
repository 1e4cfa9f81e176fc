import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId, newSecret } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { sweepWindows } from '../src/limits/admission.sql.ts';
import { WALLET } from '@quittance/testkit/sample-networks.ts';
import {
  endWindows,
  internal,
  testGateway,
  type Call,
  type Merchant,
  type Replica,
  type Response,
  type TestGateway,
} from './gateway.ts';

let gateway: TestGateway;
let merchant: Merchant;

const creation = { amount: '10.50', merchant_wallet: WALLET, description: 'Order 7' };
const created = { status: 201, body: '{"payment_id":"pay_1"}' };

beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway.close());

/** A fresh merchant has fresh counters. */
async function fresh(): Promise<Merchant> {
  merchant = await gateway.merchant();
  gateway.payments.received.length = 0;
  gateway.payments.answers.set(`POST ${payments()}`, created);
  gateway.payments.answers.set(`GET ${payments()}`, { status: 200, body: { payments: [], next_cursor: null } });
  return merchant;
}
const payments = () => `/internal/v1/merchants/${merchant.merchant_id}/payments`;
const withKey = (key: string, more: Call['headers'] = {}) => ({
  'X-API-Key': key,
  'Idempotency-Key': 'order-1',
  ...more,
});
const create = (to: Replica = gateway, options: Call = {}) =>
  to.call('POST', '/api/v1/payments', { headers: withKey(merchant.api_key), body: creation, ...options });
const counted = async (scope: string): Promise<number> => {
  const { rows } = await gateway.pool.query<{ count: number }>(
    'select count from rate_limit_window where scope = $1 and subject = $2',
    [scope, merchant.merchant_id],
  );
  return rows[0]?.count ?? 0;
};
const rotationsCounted = async (secret: string) =>
  (
    await gateway.pool.query<{ count: number }>(
      `select count from rate_limit_window where scope = 'key_rotation' and subject = encode(sha256($1), 'hex')`,
      [Buffer.from(secret)],
    )
  ).rows;
/** One by one: of many concurrent requests a busy machine answers some too late, with 503. */
const repeatedly = async (times: number, send: (nth: number) => Promise<Response>): Promise<Response[]> => {
  const responses: Response[] = [];
  for (let nth = 0; nth < times; nth += 1) responses.push(await send(nth));
  return responses;
};
const statuses = (responses: Response[]) => Object.groupBy(responses, ({ status }) => String(status));

describe('creations a minute', () => {
  const rate = (creations: unknown) =>
    gateway.call('POST', `/internal/v1/merchants/${merchant.merchant_id}/creation-rate`, {
      headers: internal,
      body: { actor: 'olga', reason: 'a sale on Friday', creations_per_minute: creations },
    });
  const createdOf = async (times: number) =>
    (await repeatedly(times, () => create())).filter(({ status }) => status === 201).length;

  test('are limited to thirty for a merchant unless support raises the limit; reads and other merchants keep theirs', async () => {
    await fresh();
    expect(await createdOf(31)).toBe(30);
    const raised = await rate(40);
    expect([raised.status, raised.json()]).toMatchObject([200, { creations_per_minute: 40 }]);
    // In the same window, on any replica.
    expect(await createdOf(10)).toBe(9);
    expect((await create(await gateway.replica())).status).toBe(429);
    expect((await rate(null)).json()).toMatchObject({ creations_per_minute: null });
    await endWindows(gateway.pool, 'creation');
    expect(await createdOf(31)).toBe(30);
    expect((await rate(null)).status).toBe(200);
    const audit = await gateway.call('GET', `/internal/v1/merchants/${merchant.merchant_id}/audit`, {
      headers: internal,
    });
    expect((audit.json() as { entries: object[] }).entries.slice(0, 3)).toMatchObject([
      { action: 'set_creation_rate', before: { creations_per_minute: 40 }, after: { creations_per_minute: null } },
      { action: 'set_creation_rate', actor: 'olga', reason: 'a sale on Friday', after: { creations_per_minute: 40 } },
      { action: 'register' },
    ]);
    await fresh();
    expect(await createdOf(31)).toBe(30);
  });

  test.each([29, 601, 0, 30.5, '40', undefined])('cannot be set to %p', async (creations) => {
    await fresh();
    expect((await rate(creations)).status).toBe(422);
  });
});

describe('the order of answers', () => {
  test('401 comes before 413, 413 before 422, 422 before 429; 413 is counted, 401 and 422 are not', async () => {
    await fresh();
    const tooLarge = 'x'.repeat(65_537);
    const wrongKey = withKey('qk_unknown');
    await expect(create(gateway, { headers: wrongKey, body: tooLarge })).resolves.toMatchObject({ status: 401 });
    await expect(create(gateway, { headers: wrongKey, body: '{' })).resolves.toMatchObject({ status: 401 });
    const noIdempotencyKey = { 'X-API-Key': merchant.api_key };
    await expect(create(gateway, { headers: noIdempotencyKey, body: tooLarge })).resolves.toMatchObject({
      status: 413,
    });
    await expect(create(gateway, { body: '{' })).resolves.toMatchObject({ status: 422 });
    expect(await counted('creation')).toBe(1);

    await repeatedly(29, () => create());
    await expect(create()).resolves.toMatchObject({ status: 429 });
    await expect(create(gateway, { body: '{' })).resolves.toMatchObject({ status: 422 });
    await expect(create(gateway, { headers: wrongKey })).resolves.toMatchObject({ status: 401 });
    expect(await counted('creation')).toBe(31);
  });

  test('the body limit also applies without an API key: to the rotation, which is then counted and changes nothing, and to the public status', async () => {
    const { api_key: key, rotation_secret: secret } = await gateway.merchant();
    const body = 'x'.repeat(65_537);
    const rotate = { headers: { 'secret-key': secret }, body };
    await expect(gateway.call('POST', '/api/v1/merchant/rotate-key', rotate)).resolves.toMatchObject({ status: 413 });
    const wrong = { headers: { 'secret-key': newSecret('qr') }, body };
    await expect(gateway.call('POST', '/api/v1/merchant/rotate-key', wrong)).resolves.toMatchObject({ status: 401 });
    await expect(gateway.call('GET', `/api/v1/payments/${'t'.repeat(43)}`, { body })).resolves.toMatchObject({
      status: 413,
    });
    expect(await rotationsCounted(secret)).toEqual([{ count: 1 }]);
    expect(await rotationsCounted(wrong.headers['secret-key'])).toEqual([{ count: 1 }]);
    // Still 413 for its size, and still counted; a wrong secret gets 429.
    const statusesOf = async (call: Call) =>
      (await repeatedly(5, () => gateway.call('POST', '/api/v1/merchant/rotate-key', call))).map((one) => one.status);
    expect(await statusesOf(rotate)).toEqual([413, 413, 413, 413, 413]);
    expect(await statusesOf(wrong)).toEqual([401, 401, 401, 401, 429]);
    expect((await gateway.call('POST', '/api/v1/merchant/rotate-key', { ...rotate, body: '' })).status).toBe(429);
    const limits = await gateway.call('GET', '/api/v1/merchant/limits', { headers: { 'X-API-Key': key } });
    expect(limits.status).not.toBe(401);
  });

  test('a rotation secret that is sent twice is refused and counted as a secret of its own', async () => {
    const { rotation_secret: secret } = await gateway.merchant();
    const twice = { headers: { 'secret-key': [secret, secret] } };
    const answers = await repeatedly(6, () => gateway.call('POST', '/api/v1/merchant/rotate-key', twice));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await rotationsCounted(`${secret}, ${secret}`)).toEqual([{ count: 6 }]);
    expect(await rotationsCounted(secret)).toEqual([]);
  });

  test('a body of exactly 64 KiB passes and one more byte is 413, also when chunked', async () => {
    await fresh();
    const padded = (bytes: number) => JSON.stringify(creation).padEnd(bytes, ' ');
    const chunked = { headers: withKey(merchant.api_key, { 'Transfer-Encoding': 'chunked' }) };
    await expect(create(gateway, { body: padded(65_536) })).resolves.toMatchObject({ status: 201 });
    await expect(create(gateway, { ...chunked, body: padded(65_536) })).resolves.toMatchObject({ status: 201 });
    await expect(create(gateway, { body: padded(65_537) })).resolves.toMatchObject({ status: 413 });
    const refused = await create(gateway, { ...chunked, body: padded(65_537) });
    expect(refused.status).toBe(413);
    expect(refused.json()).toEqual({ detail: 'Request body exceeds 64 KiB', code: 'body_too_large' });
  });

  test('a body that the edge refused is too large, and the key is still checked first', async () => {
    await fresh();
    const marked = (key: string) => withKey(key, { 'X-Body-Too-Large': '1' });
    const list = (key: string) => gateway.call('GET', '/api/v1/payments', { headers: marked(key) });
    for (const send of [list, (key: string) => create(gateway, { headers: marked(key) })]) {
      await expect(send('qk_unknown')).resolves.toMatchObject({ status: 401 });
      await expect(send(merchant.api_key)).resolves.toMatchObject({ status: 413 });
    }
    expect(await counted('shared_reads')).toBe(1);
    expect(await counted('creation')).toBe(1);
  });

  test('endpoints without a body also refuse a large one, after they have checked the key', async () => {
    await fresh();
    const body = 'x'.repeat(65_537);
    const list = (key: string) => gateway.call('GET', '/api/v1/payments', { headers: { 'X-API-Key': key }, body });
    await expect(list('qk_unknown')).resolves.toMatchObject({ status: 401 });
    await expect(list(merchant.api_key)).resolves.toMatchObject({ status: 413 });
    expect(await counted('shared_reads')).toBe(1);
  });

  test('a missing, unknown, repeated or oversized key gets the same 401', async () => {
    await fresh();
    const keys = [
      {},
      { 'X-API-Key': 'qk_x' },
      { 'X-API-Key': [merchant.api_key, merchant.api_key] },
      { 'X-API-Key': 'k'.repeat(256) },
    ];
    const answers = await Promise.all(
      keys.map((headers) => gateway.call('GET', `/api/v1/payments?X-API-Key=${merchant.api_key}`, { headers })),
    );
    for (const { status, text } of answers) {
      expect(status).toBe(401);
      expect(text).toBe('{"detail":"Missing or invalid API key","code":"unauthorized"}');
    }
    expect(gateway.payments.received).toEqual([]);
  });
});

describe('a counter', () => {
  test('admits exactly its limit of 200 concurrent requests over two replicas', async () => {
    const replicas = [gateway, await gateway.replica()];
    const burst = () => Promise.all(Array.from({ length: 200 }, (_, n) => create(replicas[n % 2])));
    let responses: Response[];
    // On a busy machine a counted request may be answered 503 too late: then again, with a new merchant.
    do {
      await fresh();
      responses = await burst();
    } while (statuses(responses)[503] !== undefined);
    const { 201: admitted = [], 429: limited = [] } = statuses(responses);
    expect([admitted.length, limited.length]).toEqual([30, 170]);
    expect(gateway.payments.received).toHaveLength(30);
    for (const { headers, text } of limited) {
      expect(text).toBe('{"detail":"Rate limit exceeded","code":"rate_limited"}');
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
    }
  });

  test('counts refused attempts without moving the end of its window, and restarts after it', async () => {
    await fresh();
    const window = async () =>
      (
        await gateway.pool.query<{ started_at: Date; ends_at: Date; count: number }>(
          `select started_at, ends_at, count from rate_limit_window where scope = 'creation' and subject = $1`,
          [merchant.merchant_id],
        )
      ).rows[0];
    await create();
    const first = await window();
    await repeatedly(40, () => create());
    expect(await window()).toEqual({ ...first, count: 41 });
    expect(Number(first?.ends_at) - Number(first?.started_at)).toBe(60_000);

    await endWindows(gateway.pool, 'creation');
    const responses = await repeatedly(40, () => create());
    expect(statuses(responses)[201]).toHaveLength(30);
    expect((await window())?.count).toBe(40);
  });

  test('is shared by all reads, but not by creation, cancellation or any other limit', async () => {
    await fresh();
    const headers = { 'X-API-Key': merchant.api_key };
    const reads = [
      '/payments',
      '/payments/page',
      '/payments/pay_x/details',
      '/payments/pay_x/proof',
      '/payments/pay_x/webhooks',
      '/merchant/limits',
      '/merchant/webhook',
    ];
    await repeatedly(120, (n) => gateway.call('GET', `/api/v1${reads[n % reads.length]}`, { headers }));
    for (const path of reads) {
      await expect(gateway.call('GET', `/api/v1${path}`, { headers })).resolves.toMatchObject({ status: 429 });
    }
    await expect(create()).resolves.toMatchObject({ status: 201 });
    await expect(gateway.call('POST', '/api/v1/payments/pay_x/cancel', { headers })).resolves.toMatchObject({
      status: 409,
    });
    await fresh();
    await expect(
      gateway.call('GET', '/api/v1/payments', { headers: withKey(merchant.api_key) }),
    ).resolves.toMatchObject({ status: 200 });
  });

  test('of webhook settings is shared by URL updates and key rotations; retries are limited to five an hour', async () => {
    await fresh();
    const headers = { 'X-API-Key': merchant.api_key };
    const update = () =>
      gateway.call('PUT', '/api/v1/merchant/webhook', { headers, body: { url: 'https://shop.example/' } });
    const rotate = () => gateway.call('POST', '/api/v1/merchant/webhook/rotate-key', { headers });
    await Promise.all(Array.from({ length: 5 }, () => Promise.all([update(), rotate()])));
    await expect(update()).resolves.toMatchObject({ status: 429 });
    await expect(rotate()).resolves.toMatchObject({ status: 429 });

    const retry = () => gateway.call('POST', '/api/v1/merchant/webhook/events/evt_unknown/retry', { headers });
    const answers = [];
    for (let n = 0; n < 6; n += 1) answers.push(await retry());
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 429]);
    expect(Number(answers.at(-1)?.headers['retry-after'])).toBeGreaterThan(3_500);
  });

  test('of manual retries counts every outcome, for each merchant, in a window that begins with the first retry', async () => {
    const other = await fresh();
    await fresh();
    const [delivered, failed] = [newId('evt'), newId('evt')];
    const path = (event: string) => `/internal/v1/merchants/${merchant.merchant_id}/events/${event}/retry`;
    gateway.webhooks.answers.set(`POST ${path(failed)}`, { status: 202, body: '{"attempts":0}' });
    gateway.webhooks.answers.set(`POST ${path(delivered)}`, {
      status: 409,
      body: { detail: 'Only a failed webhook event can be retried' },
    });
    const retry = (event: string, { api_key: key } = merchant) =>
      gateway.call('POST', `/api/v1/merchant/webhook/events/${event}/retry`, { headers: { 'X-API-Key': key } });
    const answers = [];
    for (const event of [delivered, failed, 'evt_unknown', delivered, newId('evt'), failed, delivered])
      answers.push(await retry(event));
    expect(answers.map(({ status }) => status)).toEqual([409, 202, 404, 409, 404, 429, 429]);
    // A request over the limit sends no call.
    const asked = gateway.webhooks.received.filter((call) => call.path === path(failed));
    expect(asked).toHaveLength(1);
    for (const { headers, text } of answers.slice(-2)) {
      expect(text).toBe('{"detail":"Rate limit exceeded","code":"rate_limited"}');
      expect(Number(headers['retry-after'])).toBeGreaterThan(3_500);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(3_600);
    }
    expect((await retry(delivered, other)).status).toBe(404);
    await endWindows(gateway.pool, 'manual_retry');
    expect((await retry(failed)).status).toBe(202);
  });

  test('is deleted after its window has ended, and not before', async () => {
    await fresh();
    await create();
    await gateway.call('GET', '/api/v1/payments', { headers: { 'X-API-Key': merchant.api_key } });
    await endWindows(gateway.pool, 'creation');
    while ((await sweepWindows(gateway.pool, 2)) > 0) testLogger.debug('swept a batch');
    expect([await counted('creation'), await counted('shared_reads')]).toEqual([0, 1]);
  });

  test('that cannot be reached admits no request: 503, and no service is called', async () => {
    await fresh();
    const blind = await gateway.replica('postgres://nobody:nothing@127.0.0.1:1/none');
    for (const [method, path] of [
      ['POST', '/api/v1/payments'],
      ['GET', '/api/v1/payments'],
      ['GET', `/api/v1/payments/${'t'.repeat(43)}`],
    ] as const) {
      const answer = await blind.call(method, path, {
        headers: withKey(merchant.api_key),
        ...(method === 'POST' && { body: creation }),
      });
      expect(answer.status).toBe(503);
      expect(answer.text).toBe('{"detail":"Service temporarily unavailable","code":"unavailable"}');
    }
    await expect(
      blind.call('POST', '/api/v1/merchant/rotate-key', { headers: { 'secret-key': 'qr_x' } }),
    ).resolves.toMatchObject({ status: 503 });
    await expect(blind.call('GET', '/readyz')).resolves.toMatchObject({ status: 503 });
    await expect(blind.call('GET', '/livez')).resolves.toMatchObject({ status: 200 });
    expect(gateway.payments.received).toEqual([]);
  });

  test('whose database does not answer is 503 before the database itself gives up, and counts again afterwards', async () => {
    const proxy = await faultProxy({ target: gateway.databaseUrl });
    const far = await gateway.replica(proxy.url);
    const list = () => far.call('GET', '/api/v1/payments', { headers: { 'X-API-Key': merchant.api_key } });
    await fresh();
    await expect(list()).resolves.toMatchObject({ status: 200 });
    proxy.stall();
    const answer = await list();
    expect([answer.status, answer.text]).toEqual([
      503,
      '{"detail":"Service temporarily unavailable","code":"unavailable"}',
    ]);
    proxy.restore();
    await eventually(async () => expect((await list()).status).toBe(200));
    await proxy.close();
  });
});
