import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { hostileUrls } from './hostile-urls.ts';
import { urlTable } from './url-table.ts';
import { status } from './receiver.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const url = 'https://hooks.merchant.io/pay';
const keyId = expect.stringMatching(/^whk_[0-9a-f]{32}$/);
const signingKey = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);
const path = (merchantId: string) => `/merchants/${merchantId}/webhook`;

describe('PUT webhook', () => {
  test('answers 200 with the signing key the first time, and without it afterwards', async () => {
    const merchantId = newId('mer');
    const first = await world.call('PUT', path(merchantId), { url });
    const events = ['PAID'];
    expect(first).toEqual({ status: 200, body: { url, key_id: keyId, events, version: 1, signing_key: signingKey } });
    const second = await world.call('PUT', path(merchantId), { url: 'https://other.merchant.io/' });
    expect(second).toEqual({
      status: 200,
      body: { url: 'https://other.merchant.io/', key_id: first.body.key_id, events, version: 2 },
    });
  });

  test('answers exactly one of twenty concurrent first calls with the key, and all with the same key id', async () => {
    const merchantId = newId('mer');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.callUntilServed('PUT', path(merchantId), { url })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
    expect(answers.filter(({ body }) => 'signing_key' in body)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.key_id)).size).toBe(1);
    const { rowCount } = await world.pool.query(`select 1 from signing_key where merchant_id = $1`, [merchantId]);
    expect(rowCount).toBe(1);
    await eventually(() => expect(world.configured(merchantId)).toHaveLength(1));
  });

  test('publishes WebhookConfigured once per merchant, however often the URL changes', async () => {
    const merchants = [newId('mer'), newId('mer')] as const;
    for (const merchantId of [merchants[0], merchants[0], merchants[1]]) {
      await world.call('PUT', path(merchantId), { url });
    }
    await eventually(() => expect(world.configured(merchants[1])).toHaveLength(1));
    await eventually(() => expect(world.configured(merchants[0])).toHaveLength(1));
  });

  test("keeps the merchant's choice of events until it changes, and returns it each time", async () => {
    const merchantId = newId('mer');
    const chosen = ['PAID', 'TRANSFER_UNMATCHED'];
    await world.call('PUT', path(merchantId), { url });
    const put = (events?: string[]) => world.call('PUT', path(merchantId), { url, events });
    expect(await put(chosen)).toMatchObject({ status: 200, body: { events: chosen } });
    expect(await put()).toMatchObject({ status: 200, body: { events: chosen } });
    expect(await world.call('GET', path(merchantId))).toMatchObject({ body: { events: chosen, version: 3 } });
    expect(await put(['EXPIRED'])).toMatchObject({ status: 200, body: { events: ['EXPIRED'] } });
    const { body } = await world.call('GET', `/merchants/${merchantId}/audit`);
    const entries = (body as unknown as { entries: { events: string[] }[] }).entries;
    expect(entries.map(({ events }) => events)).toEqual([['EXPIRED'], chosen, chosen, ['PAID']]);
  });

  test.each([
    ['a private address', { url: 'https://10.0.0.1/' }, ['url']],
    ['plain HTTP', { url: 'http://hooks.merchant.io/' }, ['url']],
    ['a name that does not exist', { url: 'https://nobody.invalid/' }, ['url']],
    ['no URL', {}, ['url']],
    ['a URL that is no text', { url: 7 }, ['url']],
    ['unknown fields', { url, secret: 'x', event: [] }, ['secret', 'event']],
    ['a choice of nothing', { url, events: [] }, ['events']],
    ['a choice that repeats', { url, events: ['PAID', 'PAID'] }, ['events']],
    ['a choice that is no list', { url, events: 'PAID' }, ['events']],
    ['malformed JSON', '{"url":', ['body']],
    ['a list', '[]', ['body']],
  ])('answers 422 naming the field for %s', async (_case, body, fields) => {
    const merchantId = newId('mer');
    const answer = await world.call('PUT', path(merchantId), body);
    expect(answer).toEqual({
      status: 422,
      body: { detail: fields.map((field) => ({ field, reason: expect.any(String) })), code: 'invalid_request' },
    });
    expect(await world.call('GET', path(merchantId))).toMatchObject({ status: 404 });
  });

  test('answers 422 with a reason for every URL that the policy refuses, and 200 for every one it accepts', async () => {
    const merchantId = newId('mer');
    for (const url of [...urlTable('reject'), ...hostileUrls]) {
      const { status, body } = await world.call('PUT', path(merchantId), { url });
      expect([url, status, body]).toEqual([
        url,
        422,
        { detail: [{ field: 'url', reason: expect.stringMatching(/^must /) }], code: 'invalid_request' },
      ]);
    }
    expect(await world.call('GET', path(merchantId))).toMatchObject({ status: 404 });
    for (const accepted of urlTable('accept')) {
      const { status, body } = await world.call('PUT', path(merchantId), { url: accepted });
      expect([accepted, status, body]).toMatchObject([accepted, 200, { url: accepted }]);
      expect(await world.call('GET', path(merchantId))).toMatchObject({ body: { url: accepted } });
    }
  });

  test.each([
    ['no content type', { 'content-type': '' }, '{}'],
    ['another content type', { 'content-type': 'text/plain' }, JSON.stringify({ url })],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'url=https://hooks.merchant.io/'],
    ['a compressed body', { 'content-encoding': 'gzip' }, JSON.stringify({ url })],
    ['a text', {}, JSON.stringify(url)],
    ['nothing', {}, ''],
  ])('answers 422 on the body for %s', async (_case, headers, body) => {
    const answer = await world.call('PUT', path(newId('mer')), body, headers);
    expect(answer).toEqual({
      status: 422,
      body: { detail: [{ field: 'body', reason: expect.any(String) }], code: 'invalid_request' },
    });
  });

  test.each([
    ['a prototype', '{"__proto__":{"url":"https://hooks.merchant.io/"}}', ['url', '__proto__']],
    ['a null', '{"url":null}', ['url']],
    ['a list of URLs', JSON.stringify({ url: [url] }), ['url']],
    ['other spellings of the field', JSON.stringify({ URL: url, 'url ': url }), ['url', 'URL', 'url ']],
  ])('answers 422 naming the field for %s in place of the URL', async (_case, body, fields) => {
    const answer = await world.call('PUT', path(newId('mer')), body);
    expect(answer).toEqual({
      status: 422,
      body: { detail: fields.map((field) => ({ field, reason: expect.any(String) })), code: 'invalid_request' },
    });
  });

  test('audits each change, with the request id and without the URL or the key', async () => {
    const merchantId = newId('mer');
    const { body: first } = await world.call('PUT', path(merchantId), { url }, { 'x-request-id': 'first-put' });
    await world.call('PUT', path(merchantId), { url: `${url}/moved` }, { 'x-request-id': 'second-put' });
    await world.call('PUT', path(merchantId), { url: 'https://10.0.0.1/' }, { 'x-request-id': 'refused-put' });
    await world.call('POST', `${path(merchantId)}/rotate-key`, undefined, { 'x-request-id': 'rotation' });
    const { rows } = await world.pool.query(`select * from audit where merchant_id = $1 order by at`, [merchantId]);
    const common = { merchant_id: merchantId, event_id: null, actor: 'merchant', reason: null };
    expect(rows).toMatchObject([
      { ...common, action: 'endpoint_configured', request_id: 'first-put' },
      { ...common, action: 'endpoint_changed', request_id: 'second-put' },
      { ...common, action: 'key_rotated', request_id: 'rotation' },
    ]);
    expect(JSON.stringify(rows)).not.toContain('hooks.merchant.io');
    expect(JSON.stringify(rows)).not.toContain(first.signing_key);
  });

  test('answers 413 for a body over 64 KiB, 401 without the internal token', async () => {
    const long = { url: `https://hooks.merchant.io/${'a'.repeat(65_536)}` };
    expect(await world.call('PUT', path(newId('mer')), long)).toMatchObject({ status: 413 });
    const stranger = { 'x-internal-token': 'x'.repeat(32) };
    expect(await world.call('PUT', path(newId('mer')), { url }, stranger)).toMatchObject({ status: 401 });
  });
});

describe('GET webhook', () => {
  test('answers 404 before the first PUT, then 200 without the signing key', async () => {
    const merchantId = newId('mer');
    expect(await world.call('GET', path(merchantId))).toEqual({
      status: 404,
      body: { detail: 'Webhook is not configured', code: 'not_found' },
    });
    const { body } = await world.call('PUT', path(merchantId), { url });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await world.call('GET', path(merchantId))).toEqual({
      status: 200,
      body: { url, key_id: body.key_id, events: ['PAID'], version: 1, created_at: time, updated_at: time },
    });
  });
});

describe('POST webhook/rotate-key', () => {
  test('answers 409 before the first PUT, then 200 with a new key', async () => {
    const merchantId = newId('mer');
    const rotate = () => world.call('POST', `${path(merchantId)}/rotate-key`);
    expect(await rotate()).toEqual({
      status: 409,
      body: { detail: 'Webhook is not configured', code: 'webhook_not_configured' },
    });
    const first = await world.call('PUT', path(merchantId), { url });
    const rotated = await rotate();
    expect(rotated).toEqual({ status: 200, body: { key_id: keyId, signing_key: signingKey } });
    expect(rotated.body.key_id).not.toBe(first.body.key_id);
    expect(await world.call('GET', path(merchantId))).toMatchObject({ body: { key_id: rotated.body.key_id } });
  });

  test('called concurrently leaves one key in use, and erases the secrets of the others', async () => {
    const merchantId = newId('mer');
    await world.call('PUT', path(merchantId), { url });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => world.callUntilServed('POST', `${path(merchantId)}/rotate-key`)),
    );
    expect(new Set(answers.map(({ body }) => body.key_id)).size).toBe(10);
    const { rows } = await world.pool.query(
      `select key_id from signing_key where merchant_id = $1 and secret_encrypted is not null`,
      [merchantId],
    );
    const current = await world.call('GET', path(merchantId));
    expect(rows).toEqual([{ key_id: current.body.key_id }]);
  });
});

describe('POST webhook/test', () => {
  const testOf = (merchantId: string) => world.call('POST', `${path(merchantId)}/test`);

  test('answers 409 before the first PUT', async () => {
    expect(await testOf(newId('mer'))).toEqual({
      status: 409,
      body: { detail: 'Webhook is not configured', code: 'webhook_not_configured' },
    });
  });

  test('makes one signed attempt, without a record, and answers its outcome', async () => {
    const merchant = await world.merchant();
    world.receiver.answer(merchant.host, status(503), status(204));
    const failed = await testOf(merchant.merchantId);
    expect(failed).toEqual({
      status: 200,
      body: {
        event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
        delivered: false,
        http_status: 503,
        error_category: 'http_5xx',
        duration_ms: expect.any(Number),
      },
    });
    expect(await testOf(merchant.merchantId)).toMatchObject({
      body: { delivered: true, http_status: 204, error_category: null },
    });
    const [first, second, ...others] = world.receiver.received(merchant.host);
    expect(others).toEqual([]);
    const { event_id: eventId } = failed.body as unknown as { event_id: string };
    expect(first?.body.toString()).toBe(
      `{"event_id":"${eventId}","event_type":"test","payment_id":null,"status":"TEST","expected_amount":"0",` +
        '"transaction_id":null,"transaction_event_index":null,"description":"Test event"}',
    );
    expect(first?.headers).toMatchObject({
      'x-service-event-id': eventId,
      'x-service-key-id': merchant.keyId,
      'x-service-signature': expect.stringMatching(/^v1=[0-9a-f]{64}$/),
    });
    expect(second?.headers['x-service-event-id']).not.toBe(eventId);
    expect((await world.pool.query('select from event where merchant_id = $1', [merchant.merchantId])).rowCount).toBe(
      0,
    );
  });

  test('that succeeds probes an open circuit immediately, and one that fails changes nothing', async () => {
    const merchant = await world.merchant();
    await world.pool.query(
      `update lane set circuit_state = 'open', open_until = 'infinity', times_opened = 1 where merchant_id = $1`,
      [merchant.merchantId],
    );
    const openUntil = async () =>
      (
        await world.pool.query<{ is_over: boolean }>(
          `select open_until <= now() as is_over from lane where merchant_id = $1`,
          [merchant.merchantId],
        )
      ).rows[0]?.is_over;
    world.receiver.answer(merchant.host, status(500), status(200));
    await testOf(merchant.merchantId);
    expect(await openUntil()).toBe(false);
    await testOf(merchant.merchantId);
    expect(await openUntil()).toBe(true);
  });
});

test('GET deliveries of an unknown payment answers an empty list', async () => {
  const answer = await world.call('GET', `/merchants/${newId('mer')}/payments/${newId('pay')}/deliveries`);
  expect(answer).toEqual({ status: 200, body: { deliveries: [] } });
});
