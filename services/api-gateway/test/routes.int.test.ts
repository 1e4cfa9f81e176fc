import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId, newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import { writeCursor, type ReadPublicPayments } from '@quittance/contracts/http/payments/payments.ts';
import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import type { CheckoutPayment, SeenConfirmations } from '@quittance/contracts/api/checkout.ts';
import type { ResponseOf } from '@quittance/contracts/call.ts';
import { assets } from '@quittance/checkout-page/document.ts';
import { checkoutOf } from '@quittance/testkit/sample-checkout.ts';
import { WALLET, WALLET_LOWER } from '@quittance/testkit/sample-networks.ts';
import { INTERNAL_TOKEN, testGateway, type Merchant, type TestGateway } from './gateway.ts';
import type { StandIn } from './stand-in.ts';

const unavailable = '{"detail":"Service temporarily unavailable","code":"unavailable"}';

let gateway: TestGateway;
let merchant: Merchant;

beforeAll(async () => {
  gateway = await testGateway();
});
beforeEach(async () => {
  merchant = await gateway.merchant();
  for (const owner of [gateway.payments, gateway.webhooks]) {
    owner.received.length = 0;
    owner.answers.clear();
  }
  found('payment-details');
  found('public-payments');
});
afterAll(() => gateway.close());

const own = (path: string) => `/internal/v1/merchants/${merchant.merchant_id}${path}`;
const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  gateway.call(method, `/api/v1${path}`, {
    headers: { 'X-API-Key': merchant.api_key, ...headers },
    ...(body !== undefined && { body }),
  });
/** Makes payments answer reads of single payments with only these. */
const found = (what: 'payment-details' | 'public-payments', ...payments: object[]) =>
  gateway.payments.answers.set(`POST /internal/v1/${what}`, { status: 200, body: { found: payments } });
const create = (body: object = creation) => ask('POST', '/payments', body, { 'Idempotency-Key': 'order-1' });
const creation = { amount: '10.50', merchant_wallet: WALLET_LOWER, description: 'Order 7' };
const bodyOf = (owner: StandIn): unknown => JSON.parse(owner.received[0]?.body ?? 'null') as unknown;

describe('creation', () => {
  test('sends the validated values with the internal token and the request id, and answers the exact bytes', async () => {
    const bytes = '{ "payment_id" : "pay_1" }';
    gateway.payments.answers.set(`POST ${own('/payments')}`, {
      status: 201,
      body: bytes,
      headers: { 'Idempotency-Replayed': 'true', 'X-Internal': 'hidden' },
    });
    const answer = await ask('POST', '/payments', creation, { 'Idempotency-Key': 'order-1', 'X-Request-ID': 'abc-1' });
    expect([answer.status, answer.text]).toEqual([201, bytes]);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'idempotency-replayed': 'true',
      'x-request-id': 'abc-1',
    });
    expect(answer.headers).not.toHaveProperty('x-internal');
    expect(gateway.payments.received[0]?.headers).toMatchObject({
      'x-internal-token': INTERNAL_TOKEN,
      'x-request-id': 'abc-1',
    });
    expect(bodyOf(gateway.payments)).toEqual({
      idempotency_key: 'order-1',
      amount: '10.50',
      merchant_wallet: WALLET,
      description: 'Order 7',
      network: 'local',
    });
  });

  test.each([
    [403, '{"detail":{"code":"account_inactive","message":"…"},"code":"…"}'],
    [403, '{"detail":{"code":"beta_expired","message":"…"},"code":"…"}'],
    [404, '{"detail":"No such payment","code":"not_found"}'],
    [409, '{"detail":"Finish the other one first","code":"payment_unfinished"}'],
    [422, '{"detail":[{"field":"amount","reason":"…"}],"code":"invalid_request"}'],
  ])('forwards the exact bytes of a refusal with %i and %s', async (status, body) => {
    gateway.payments.answers.set(`POST ${own('/payments')}`, { status, body });
    const answer = await create();
    expect([answer.status, answer.text]).toEqual([status, body]);
  });

  test.each([301, 400, 401, 429, 500, 503])('answers 503 when payments answers %i', async (status) => {
    gateway.payments.answers.set(`POST ${own('/payments')}`, { status, body: { detail: 'internal words' } });
    const answer = await create();
    expect([answer.status, answer.text]).toEqual([503, unavailable]);
  });

  test('answers 503 if payments does not answer or cannot be reached', async () => {
    gateway.payments.answers.set(`POST ${own('/payments')}`, 'silence');
    await expect(create()).resolves.toMatchObject({ status: 503 });
    const alone = await testGateway();
    try {
      const { api_key: key } = await alone.merchant();
      await alone.payments.close();
      const answer = await alone.call('GET', '/api/v1/payments', { headers: { 'X-API-Key': key } });
      expect([answer.status, answer.text]).toEqual([503, unavailable]);
    } finally {
      await alone.close();
    }
  });

  test('calls no service when a field is invalid, and names every invalid field', async () => {
    const answer = await ask('POST', '/payments', { ...creation, amount: 10, note: '' });
    expect(answer.status).toBe(422);
    expect((answer.json()['detail'] as { field: string }[]).map(({ field }) => field).sort()).toEqual([
      'Idempotency-Key',
      'amount',
      'note',
    ]);
    expect(gateway.payments.received).toEqual([]);
  });
});

describe('reading payments', () => {
  test('the plain list has the newest hundred payments and no cursor', async () => {
    gateway.payments.answers.set(`GET ${own('/payments')}`, {
      status: 200,
      body: { payments: [{ amount: '1.50' }], next_cursor: 'x' },
    });
    const answer = await ask('GET', '/payments?status=PAID&limit=3');
    expect([answer.status, answer.json()]).toEqual([200, { payments: [{ amount: '1.50' }] }]);
    expect(new URLSearchParams(gateway.payments.received[0]?.query)).toEqual(
      new URLSearchParams('limit=100&status=PAID'),
    );
  });

  test('the page is not taken for a public token, and bad parameters are 422', async () => {
    const body = '{"payments":[],"next_cursor":null}';
    const cursor = writeCursor({ createdAt: new Date(0), paymentId: newId('pay') });
    gateway.payments.answers.set(`GET ${own('/payments')}`, { status: 200, body });
    await expect(ask('GET', `/payments/page?cursor=${cursor}`)).resolves.toMatchObject({ status: 200, text: body });
    expect(gateway.payments.received[0]?.query).toBe(`?limit=20&cursor=${cursor}`);
    await expect(ask('GET', '/payments/page?limit=0')).resolves.toMatchObject({ status: 422 });
  });

  test("an unknown id, another merchant's and a malformed one get the same 404, for details, proofs and webhooks", async () => {
    const foreign = newId('pay');
    // A payment of another merchant that was not asked for is never shown.
    found('payment-details', { merchant_id: newId('mer'), payment: { payment_id: foreign } });
    gateway.webhooks.answers.set(`GET ${own(`/payments/${foreign}/deliveries`)}`, {
      status: 200,
      body: { deliveries: [] },
    });
    for (const id of [foreign, newId('pay'), 'pay_x', '..%2f..%2fgate', '%00', foreign.toUpperCase()]) {
      for (const view of ['details', 'proof', 'webhooks']) {
        const answer = await ask('GET', `/payments/${id}/${view}`);
        expect([answer.status, answer.text]).toEqual([404, '{"detail":"Payment not found","code":"not_found"}']);
      }
    }
  });

  test('a payment without events has an empty list of deliveries; the list of one with events does not wait for payments', async () => {
    const [quiet, told] = [newId('pay'), newId('pay')];
    gateway.webhooks.answers.set(`GET ${own(`/payments/${quiet}/deliveries`)}`, {
      status: 200,
      body: '{"deliveries":[]}',
    });
    found('payment-details', { merchant_id: merchant.merchant_id, payment: { payment_id: quiet } });
    await expect(ask('GET', `/payments/${quiet}/webhooks`)).resolves.toMatchObject({
      status: 200,
      text: '{"deliveries":[]}',
    });
    gateway.payments.answers.set('POST /internal/v1/payment-details', 'silence');
    const body = '{"deliveries":[{"event_id":"evt_1"}]}';
    gateway.webhooks.answers.set(`GET ${own(`/payments/${told}/deliveries`)}`, { status: 200, body });
    await expect(ask('GET', `/payments/${told}/webhooks`)).resolves.toMatchObject({ status: 200, text: body });
  });

  test('concurrent details of several merchants are one call to payments, and each gets its own', async () => {
    const others = await Promise.all(Array.from({ length: 12 }, () => gateway.merchant()));
    const asked = others.map((other, n) => ({ ...other, payment: { payment_id: newId('pay'), amount: `${n}.50` } }));
    found('payment-details', ...asked);
    const answers = await Promise.all(
      asked.map(({ api_key: key, payment }) =>
        gateway.call('GET', `/api/v1/payments/${payment.payment_id}/details`, { headers: { 'X-API-Key': key } }),
      ),
    );
    expect(answers.map(({ status, json }) => [status, json()])).toEqual(asked.map(({ payment }) => [200, payment]));
    expect(gateway.payments.received.length).toBeLessThan(asked.length);
  });

  test.each([
    ['no list', { status: 200, body: {} }],
    ['no JSON', { status: 200, body: '<html>' }],
    ['a refusal', { status: 422, body: { detail: [] } }],
  ])('details are 503 when payments answers with %s', async (_what, answer) => {
    gateway.payments.answers.set('POST /internal/v1/payment-details', answer);
    await expect(ask('GET', `/payments/${newId('pay')}/details`)).resolves.toMatchObject({ status: 503 });
  });

  test('cancel forwards the payment, and answers the same 409 for everything else', async () => {
    const [open, closed] = [newId('pay'), newId('pay')];
    gateway.payments.answers.set(`POST ${own(`/payments/${open}/cancel`)}`, {
      status: 200,
      body: '{"status":"CANCELLED"}',
    });
    gateway.payments.answers.set(`POST ${own(`/payments/${closed}/cancel`)}`, { status: 409, body: '{"detail":"no"}' });
    await expect(ask('POST', `/payments/${open}/cancel`)).resolves.toMatchObject({
      status: 200,
      text: '{"status":"CANCELLED"}',
    });
    for (const id of [closed, 'pay_x', '%00', closed.toUpperCase()]) {
      const answer = await ask('POST', `/payments/${id}/cancel`);
      expect([answer.status, answer.text]).toEqual([
        409,
        '{"detail":"This payment cannot be cancelled","code":"cancel_unavailable"}',
      ]);
    }
  });
});

test('limits are those of payments, followed by the previous authenticated request', async () => {
  gateway.payments.answers.set(`GET ${own('/limits')}`, {
    status: 200,
    body: { merchant_id: 'mer_1', server_time: 't' },
  });
  const first = await ask('GET', '/merchant/limits');
  expect(first.text).toBe('{"merchant_id":"mer_1","server_time":"t","last_api_request_at":null}');
  await ask('GET', '/payments?status=wrong');
  const { rows } = await gateway.pool.query<{ last_request_at: Date }>(
    'select last_request_at from merchant_activity where merchant_id = $1',
    [merchant.merchant_id],
  );
  const second = await ask('GET', '/merchant/limits');
  expect(second.json()['last_api_request_at']).toBe(rows[0]?.last_request_at.toISOString());
});

describe('webhook settings', () => {
  test('are stored by webhook-dispatcher: each call goes to its own route, and its answer is unchanged', async () => {
    const settings = '{"url":"https://shop.example/","key_id":"whk_1","events":["PAID"]}';
    const saved = { ...(JSON.parse(settings) as object), version: 7 };
    gateway.webhooks.answers.set(`PUT ${own('/webhook')}`, { status: 200, body: saved });
    gateway.webhooks.answers.set(`GET ${own('/webhook')}`, { status: 404, body: '{"detail":"No webhook"}' });
    gateway.webhooks.answers.set(`POST ${own('/webhook/rotate-key')}`, {
      status: 409,
      body: '{"detail":"No webhook"}',
    });
    await expect(ask('PUT', '/merchant/webhook', { url: 'https://shop.example/' })).resolves.toMatchObject({
      status: 200,
      text: settings,
    });
    expect(bodyOf(gateway.webhooks)).toEqual({ url: 'https://shop.example/' });
    await expect(ask('GET', '/merchant/webhook')).resolves.toMatchObject({
      status: 404,
      text: '{"detail":"No webhook"}',
    });
    await expect(ask('POST', '/merchant/webhook/rotate-key')).resolves.toMatchObject({ status: 409 });
    gateway.webhooks.answers.set(`POST ${own('/webhook/test')}`, { status: 200, body: '{"delivered":true}' });
    await expect(ask('POST', '/merchant/webhook/test')).resolves.toMatchObject({ text: '{"delivered":true}' });
  });

  test.each([
    [['uri', 'url'], { uri: 'https://shop.example/' }],
    [['url'], { url: 'http://shop.example/' }],
    [['url'], { url: 'https://10.0.0.1/' }],
    [['events'], { url: 'https://shop.example/', events: [] }],
    [['events'], { url: 'https://shop.example/', events: ['PAID', 'PAID'] }],
    [['events'], { url: 'https://shop.example/', events: ['CHECKING', 'EXPIRED'] }],
    [['events'], { url: 'https://shop.example/', events: ['paid'] }],
    [['events'], { url: 'https://shop.example/', events: null }],
    [['events', 'url'], { events: 'PAID' }],
  ])('with %j wrong are 422, count nothing and reach no service', async (fields, body) => {
    const answer = await ask('PUT', '/merchant/webhook', body);
    expect([answer.status, (answer.json()['detail'] as { field: string }[]).map(({ field }) => field).sort()]).toEqual([
      422,
      fields,
    ]);
    expect(gateway.webhooks.received).toEqual([]);
    const { rowCount } = await gateway.pool.query(`select from rate_limit_window where subject = $1`, [
      merchant.merchant_id,
    ]);
    expect(rowCount).toBe(0);
  });

  test('with a host of a private network are checked by webhook-dispatcher, which knows who may have it', async () => {
    const refusal = '{"detail":[{"field":"url","reason":"must have a public host name"}],"code":"invalid_request"}';
    gateway.webhooks.answers.set(`PUT ${own('/webhook')}`, { status: 422, body: refusal });
    await expect(ask('PUT', '/merchant/webhook', { url: 'https://shop.internal/' })).resolves.toMatchObject({
      status: 422,
      text: refusal,
    });
    expect(bodyOf(gateway.webhooks)).toEqual({ url: 'https://shop.internal/' });
  });

  test("a retry forwards 202; unknown events, other merchants' and malformed ids get the same 404", async () => {
    const [own1, unknown] = [newId('evt'), newId('evt')];
    gateway.webhooks.answers.set(`POST ${own(`/events/${own1}/retry`)}`, { status: 202, body: '{"attempts":0}' });
    await expect(ask('POST', `/merchant/webhook/events/${own1}/retry`)).resolves.toMatchObject({
      status: 202,
      text: '{"attempts":0}',
    });
    const answers = await Promise.all(
      [unknown, 'evt_x'].map((id) => ask('POST', `/merchant/webhook/events/${id}/retry`)),
    );
    for (const { status, text } of answers)
      expect([status, text]).toEqual([404, '{"detail":"Webhook event not found","code":"not_found"}']);
  });
});

describe('a public token', () => {
  const body: PublicPayment = {
    status: 'PENDING',
    amount: '10.50',
    currency: 'USDT',
    network: 'local',
    merchant_wallet: WALLET,
    description: '<script>alert(1)</script>',
    expires_at: '2026-01-31T09:00:00.000Z',
  };
  const shown: ResponseOf<typeof ReadPublicPayments>['found'] = [];
  const known = (change: Partial<CheckoutPayment> = {}): string => {
    const token = newPublicToken();
    shown.push({ token_sha256: sha256(token).toString('hex'), ...checkoutOf(body, change) });
    found('public-payments', ...shown);
    return token;
  };

  test('shows the status without a key, uncached, with its own limit', async () => {
    const token = known();
    const view = () => gateway.call('GET', `/api/v1/payments/${token}`);
    const answers = [];
    // One by one: of so many concurrent requests a busy machine answers some too late, with 503.
    for (let views = 0; views < 125; views += 1) answers.push(await view());
    const [answer] = answers.filter(({ status }) => status === 200);
    expect(answer?.json()).toEqual(body);
    expect(answer?.headers['cache-control']).toBe('no-store');
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
    await expect(gateway.call('GET', `/api/v1/payments/${known()}`)).resolves.toMatchObject({ status: 200 });
  });

  test.each<[payment: PublicPayment, confirmations: SeenConfirmations | null]>([
    [body, null],
    [
      { ...body, status: 'CHECKING' },
      { seen: 3, required: 12 },
    ],
    [{ ...body, status: 'PAID' }, null],
  ])('reveals through the API only what is for everybody: %j', async (payment, confirmations) => {
    const answer = await gateway.call('GET', `/api/v1/payments/${known({ payment, confirmations })}`);
    expect([answer.status, answer.json()]).toEqual([200, payment]);
  });

  test('that is unknown or malformed is 404', async () => {
    for (const token of [newPublicToken(), 'x', '%00', 'a'.repeat(44), newId('pay')]) {
      const answer = await gateway.call('GET', `/api/v1/payments/${token}`);
      expect([answer.status, answer.text]).toEqual([404, '{"detail":"Payment not found","code":"not_found"}']);
    }
  });

  test('opens the checkout page: escaped, not framed, uncached and not counted', async () => {
    const token = known();
    const page = await gateway.call('GET', `/pay/${token}`);
    expect(page.status).toBe(200);
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page.text).not.toContain('<script>');
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
    });
    expect(page.headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(page.headers['content-security-policy']).not.toContain('unsafe');
    const { rowCount } = await gateway.pool.query('select from rate_limit_window where subject = $1', [
      sha256(token).toString('hex'),
    ]);
    expect(rowCount).toBe(0);
  });

  test('that is unknown opens a plain 404 page, and a 503 page while payments is down', async () => {
    const token = newPublicToken();
    const notFound = await gateway.call('GET', `/pay/${token}`);
    expect([notFound.status, notFound.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    gateway.payments.answers.set('POST /internal/v1/public-payments', { status: 503, body: '' });
    const trouble = await gateway.call('GET', `/pay/${token}`);
    expect([trouble.status, trouble.headers['content-type'], trouble.headers['cache-control']]).toEqual([
      503,
      'text/html; charset=utf-8',
      'no-store',
    ]);
  });

  test('needs two assets, which may be cached forever', async () => {
    for (const { name, contentType, bytes } of Object.values(assets)) {
      const asset = await gateway.call('GET', `/assets/${name}`);
      expect([asset.status, asset.text]).toEqual([200, bytes.toString()]);
      expect(asset.headers).toMatchObject({
        'content-type': contentType,
        'cache-control': 'public, max-age=31536000, immutable',
      });
    }
    await expect(gateway.call('GET', '/assets/checkout.js')).resolves.toMatchObject({ status: 404 });
  });
});
