import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId, newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import { checkoutOf } from '@quittance/testkit/sample-checkout.ts';
import { evmNetwork, WALLET } from '@quittance/testkit/sample-networks.ts';
import { testGateway, type Merchant, type TestGateway } from './gateway.ts';

const ID = 'ab'.repeat(32);

let gateway: TestGateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await testGateway();
  merchant = await gateway.merchant();
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.payments.answers.clear();
  gateway.payments.received.length = 0;
});

const ask = (method: string, path: string, body?: object) =>
  gateway.call(method, `/api/v1${path}`, { headers: { 'X-API-Key': merchant.api_key }, ...(body && { body }) });
const own = (path: string) => `/internal/v1/merchants/${merchant.merchant_id}${path}`;
const fieldsOf = (answer: { json: () => Record<string, unknown> }) =>
  (answer.json()['detail'] as { field: string }[]).map(({ field }) => field);

test.each([
  [200, '{"version":1,"payment":{}}'],
  [409, '{"detail":"Blocks of Tron cannot be proven","code":"proof_unavailable"}'],
])('a proof is forwarded with its exact bytes, and is never cached: %i', async (status, body) => {
  const id = newId('pay');
  gateway.payments.answers.set(`GET ${own(`/payments/${id}/proof`)}`, { status, body });
  const answer = await ask('GET', `/payments/${id}/proof`);
  expect([answer.status, answer.text]).toEqual([status, body]);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  });
});

describe('accepting a transfer', () => {
  const paymentId = newId('pay');

  test('sends the transfer with canonical ids, and forwards the exact bytes of the answer', async () => {
    const path = `POST ${own(`/payments/${paymentId}/accept-transfer`)}`;
    for (const [status, body] of [
      [200, '{"status": "PAID"}'],
      [404, '{"detail":"Payment not found","code":"not_found"}'],
      [409, '{"detail":"This transfer is not final yet","code":"transfer_not_acceptable"}'],
    ] as const) {
      gateway.payments.answers.set(path, { status, body });
      const body_ = { transaction_id: `0x${ID.toUpperCase()}`, transaction_event_index: 3 };
      const answer = await ask('POST', `/payments/${paymentId}/accept-transfer`, body_);
      expect([answer.status, answer.text]).toEqual([status, body]);
    }
    expect(JSON.parse(gateway.payments.received[0]!.body)).toEqual({ transaction_id: ID, transaction_event_index: 3 });
  });

  test('sends how many candidates were confirmed, and nothing if none were', async () => {
    const path = `/payments/${paymentId}/accept-transfer`;
    gateway.payments.answers.set(`POST ${own(path)}`, { status: 200, body: {} });
    const named = { transaction_id: ID, transaction_event_index: 3 };
    for (const body of [named, { ...named, confirm_candidates: 1 }, { ...named, confirm_candidates: 20 }])
      expect((await ask('POST', path, body)).status).toBe(200);
    expect(gateway.payments.received.map(({ body }) => JSON.parse(body) as object)).toEqual([
      named,
      { ...named, confirm_candidates: 1 },
      { ...named, confirm_candidates: 20 },
    ]);
  });

  test.each([0, 21, 1.5, '2', null, true, [2]])('with confirm_candidates %j is 422 without a call', async (count) => {
    const body = { transaction_id: ID, transaction_event_index: 3, confirm_candidates: count };
    const answer = await ask('POST', `/payments/${paymentId}/accept-transfer`, body);
    expect([answer.status, fieldsOf(answer)]).toEqual([422, ['confirm_candidates']]);
    expect(gateway.payments.received).toEqual([]);
  });

  test('refuses a body that names no transfer, without a call; a malformed payment id is an unknown payment', async () => {
    const accept = (body: object, id: string = paymentId) => ask('POST', `/payments/${id}/accept-transfer`, body);
    expect(fieldsOf(await accept({}))).toEqual(['transaction_id', 'transaction_event_index']);
    expect(fieldsOf(await accept({ transaction_id: 'x', transaction_event_index: 1.5, note: '' })).sort()).toEqual([
      'note',
      'transaction_event_index',
      'transaction_id',
    ]);
    const malformed = await accept({ transaction_id: ID, transaction_event_index: 0 }, 'pay_1');
    expect([malformed.status, malformed.text]).toEqual([404, '{"detail":"Payment not found","code":"not_found"}']);
    expect(gateway.payments.received).toEqual([]);
  });
});

describe('finding a transaction', () => {
  test('asks payments for this merchant', async () => {
    const body = '{"transfers":[],"explanation":"…","explanation_code":"unknown"}';
    gateway.payments.answers.set(`GET ${own('/transfers')}`, { status: 200, body });
    const answer = await ask('GET', `/merchant/transfers?transaction_id=0X${ID.toUpperCase()}`);
    expect([answer.status, answer.text]).toEqual([200, body]);
    expect(gateway.payments.received[0]!.query).toBe(`?transaction_id=${ID}`);
  });

  test.each(['', '?transaction_id=', `?transaction_id=${ID}0`, `?transaction_id=${ID}&transaction_id=${ID}`])(
    'of %j is 422 and names the field',
    async (query) => {
      const answer = await ask('GET', `/merchant/transfers${query}`);
      expect([answer.status, fieldsOf(answer)]).toEqual([422, ['transaction_id']]);
      expect(gateway.payments.received).toEqual([]);
    },
  );
});

describe('the checkout page', () => {
  const payment: PublicPayment = {
    ...{ status: 'PENDING', amount: '10', currency: 'USDT', network: evmNetwork.id, merchant_wallet: WALLET },
    ...{ description: 'Order 7', expires_at: '2126-01-31T09:00:00.000Z' },
  };
  /** @returns the token of a payment that payments knows. */
  function shown(change: Partial<PublicPayment> = {}, help: object | null = { arrived: null, lookup: null }): string {
    const token = newPublicToken();
    const found = [{ token_sha256: sha256(token).toString('hex'), ...checkoutOf({ ...payment, ...change }) }];
    gateway.payments.answers.set('POST /internal/v1/public-payments', { status: 200, body: { found } });
    if (help !== null) gateway.payments.answers.set('POST /internal/v1/checkout-help', { status: 200, body: help });
    return token;
  }
  const open = (token: string, typed?: string) =>
    gateway.call('GET', `/pay/${token}${typed === undefined ? '' : `?transaction_id=${encodeURIComponent(typed)}`}`);
  const questions = () =>
    gateway.payments.received
      .filter(({ path }) => path.endsWith('/checkout-help'))
      .map(({ body }) => JSON.parse(body) as object);

  test('asks for money that arrived while the payment waits and after it ended unpaid, but not once a transfer is seen or paid', async () => {
    const token = shown();
    expect((await open(token)).status).toBe(200);
    expect(questions()).toEqual([{ token_sha256: sha256(token).toString('hex') }]);
    for (const status of ['EXPIRED', 'CANCELLED'] as const) await open(shown({ status }));
    expect(questions()).toHaveLength(3);
    for (const status of ['CHECKING', 'PAID'] as const) await open(shown({ status }));
    // Polling the status makes no call.
    await gateway.call('GET', `/api/v1/payments/${token}`);
    expect(questions()).toHaveLength(3);
  });

  test.each(['PENDING', 'EXPIRED', 'CANCELLED'] as const)(
    'of a %s payment shows money that arrived',
    async (status) => {
      const token = shown({ status }, { arrived: { amount: '9.75' }, lookup: null, warnings: [] });
      const { status: code, text } = await open(token);
      expect(code).toBe(200);
      expect(text.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')).toContain('9.75 USDT has arrived at this address');
      expect(text).toContain('If it was you, do not pay again');
    },
  );

  test('says that the address is frozen, and offers no way to pay', async () => {
    const token = shown({}, { arrived: null, lookup: null, warnings: ['wallet_blacklisted'] });
    const { text } = await open(token);
    expect(text).toContain('data-state="frozen"');
    expect(text).not.toContain('class="qr"');
  });

  test('looks up a transaction in any form it was copied, and shows the payment even if payments cannot look it up', async () => {
    const token = shown({ status: 'EXPIRED' }, { arrived: null, lookup: null });
    for (const typed of [ID, ` 0x${ID.toUpperCase()} `, `https://explorer.example/tx/0x${ID}?tab=1`]) {
      expect((await open(token, typed)).status).toBe(200);
    }
    const client = sha256('127.0.0.1').toString('hex');
    expect(questions()).toEqual(
      Array.from({ length: 3 }, () => ({
        ...{ token_sha256: sha256(token).toString('hex'), transaction_id: ID, client_sha256: client },
      })),
    );
    gateway.payments.answers.set('POST /internal/v1/checkout-help', { status: 503, body: { detail: '…' } });
    expect(await open(token, ID)).toMatchObject({ status: 200, text: expect.stringContaining('Order 7') });
  });

  test("sends a hash of the client's address, as the edge reports it, one per IPv6 block", async () => {
    const token = shown();
    for (const forwarded of ['203.0.113.9', '198.51.100.1, 203.0.113.9', '2001:db8:1:2::3', '2001:db8:1:2:ffff::4']) {
      const headers = { 'x-forwarded-for': forwarded };
      await gateway.call('GET', `/pay/${token}?transaction_id=${ID}`, { headers });
    }
    const clients = questions().map((question) => (question as { client_sha256: string }).client_sha256);
    const hashed = (text: string) => sha256(text).toString('hex');
    expect(clients).toEqual(['203.0.113.9', '203.0.113.9', '2001:db8:1:2::/64', '2001:db8:1:2::/64'].map(hashed));
  });

  test('looks up six times a minute for a payment, for all clients; the seventh gets the page with 429 and Retry-After', async () => {
    const token = shown();
    const answers = [];
    for (let time = 0; time < 7; time += 1) answers.push(await open(token, ID));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 429]);
    expect(answers[6]!.headers['retry-after']).toMatch(/^[1-9]\d?$/);
    expect(answers[6]!.text).toContain('Order 7');
    expect(questions()).toHaveLength(6);
    // Without a look-up the page has no limit, and another payment has its own counter.
    expect((await open(token)).status).toBe(200);
    expect((await open(shown(), ID)).status).toBe(200);
  });

  test('treats other text as no id, without counting it', async () => {
    const token = shown();
    for (let time = 0; time < 8; time += 1) expect((await open(token, '<script>alert(1)</script>')).status).toBe(200);
    expect(await open(token, '')).toMatchObject({ status: 200, text: expect.not.stringContaining('<script>alert') });
    expect(questions().every((question) => !('transaction_id' in question))).toBe(true);
  });
});
