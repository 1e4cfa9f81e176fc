import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import {
  createClient,
  QuittanceError,
  type PaymentCreation,
  type Quittance,
  type QuittanceOptions,
  type WalletPoolChange,
} from '../src/index.ts';
import { apiServer, type Answer } from './api-server.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  jest.useRealTimers();
  for (const close of closers.splice(0)) await close();
});

const creation = { amount: '49.90', merchant_wallet: `0x${'1'.repeat(40)}`, description: 'Tea' };
const payment = { payment_id: 'pay_1', status: 'PENDING' };
const unavailable: Answer = { status: 503, body: { detail: 'Service temporarily unavailable', code: 'unavailable' } };
const broken: Answer = (response) => response.destroy();
/** Declares more bytes than it sends. */
const standsStill =
  (text: string, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).write(text);
  };
const breaksOff =
  (text: string) =>
  (response: ServerResponse): void => {
    standsStill(text)(response);
    // Once the first bytes have been sent.
    response.write(' ', () => response.destroy());
  };

async function world(answers: readonly Answer[], options: Partial<QuittanceOptions> = {}) {
  const server = await apiServer(answers);
  closers.push(server.close);
  return { ...server, client: createClient({ baseUrl: server.url, apiKey: 'qk_1', ...options }) };
}

async function errorOf(call: Promise<unknown>): Promise<QuittanceError> {
  const error = await call.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  );
  if (error instanceof QuittanceError) return error;
  throw error as Error;
}

describe('a creation', () => {
  test('is repeated with one idempotency key and body until it is answered', async () => {
    const { client, received } = await world([
      unavailable,
      broken,
      { status: 429, headers: { 'retry-after': '0' }, body: { detail: 'Rate limit exceeded', code: 'rate_limited' } },
      { status: 429, body: '<html>429 Too Many Requests</html>' },
      { status: 201, body: payment },
    ]);
    expect(await client.createPayment(creation)).toEqual(payment);
    expect(received).toHaveLength(5);
    expect(new Set(received.map(({ headers }) => headers['idempotency-key']))).toEqual(
      new Set([expect.stringMatching(/^[0-9a-f-]{36}$/)]),
    );
    for (const { method, path, headers, body } of received) {
      expect([method, path, headers['x-api-key']]).toEqual(['POST', '/api/v1/payments', 'qk_1']);
      expect(JSON.parse(body)).toEqual(creation);
    }
  });

  test('uses the given key, and an error has it', async () => {
    const conflict = { detail: 'Finish the current payment first', code: 'payment_unfinished' };
    const { client, received } = await world([{ status: 409, headers: { 'x-request-id': 'r1' }, body: conflict }]);
    const error = await errorOf(client.createPayment(creation, { idempotencyKey: 'order-1' }));
    expect(error).toMatchObject({
      ...{ code: 'payment_unfinished', status: 409, idempotencyKey: 'order-1', requestId: 'r1' },
      message: '409: Finish the current payment first',
    });
    expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual(['order-1']);
  });
});

describe('an error', () => {
  test('names every invalid field', async () => {
    const detail = [{ field: 'amount', reason: 'is required' }];
    const { client } = await world([{ status: 422, body: { detail, code: 'invalid_request' } }]);
    expect(await errorOf(client.createPayment(creation))).toMatchObject({
      ...{ code: 'invalid_request', status: 422, invalidFields: detail, message: '422: amount is required' },
    });
  });

  test('about access has its own code', async () => {
    const detail = { code: 'daily_quota_exhausted', message: 'Come back tomorrow' };
    const { client } = await world([{ status: 403, body: { detail, code: detail.code } }]);
    expect(await errorOf(client.createPayment(creation))).toMatchObject({
      ...{ code: 'daily_quota_exhausted', message: '403: Come back tomorrow' },
    });
  });

  test.each([
    [401, 'unauthorized'],
    [404, 'not_found'],
    [418, 'unreadable_answer'],
    [500, 'internal_error'],
  ])('of a proxy that answers a page with %d is %s', async (status, code) => {
    const { client } = await world([{ status, body: '<h1>no</h1>' }], { maxRetries: 0 });
    expect(await errorOf(client.getLimits())).toMatchObject({ code, status });
  });

  test('says that a success did not come from the API', async () => {
    const { client } = await world([{ body: '<h1>welcome</h1>' }]);
    expect(await errorOf(client.getLimits())).toMatchObject({ code: 'unreadable_answer', status: 200 });
  });
});

describe('repeating', () => {
  test('ends with the last error', async () => {
    const { client, received } = await world(
      Array.from({ length: 3 }, () => unavailable),
      { maxRetries: 2 },
    );
    expect(await errorOf(client.getLimits())).toMatchObject({ code: 'unavailable', status: 503 });
    expect(received).toHaveLength(3);
  });

  test('does not wait longer than allowed', async () => {
    const limited = { detail: 'Rate limit exceeded', code: 'rate_limited' };
    const { client, received } = await world([{ status: 429, headers: { 'retry-after': '59' }, body: limited }]);
    expect(await errorOf(client.getLimits())).toMatchObject({ code: 'rate_limited', retryAfterMs: 59_000 });
    expect(received).toHaveLength(1);
  });

  test('is not made if repeating has a further effect', async () => {
    for (const answer of [unavailable, broken]) {
      const { client, received } = await world([answer]);
      await errorOf(client.retryEvent('evt_1'));
      expect(received).toHaveLength(1);
    }
  });

  test('ends when the caller aborts', async () => {
    const stop = new AbortController();
    const { client, received } = await world([
      (response) => {
        response.writeHead(503).end();
        stop.abort(new Error('the customer left'));
      },
    ]);
    const error = await errorOf(client.createPayment(creation, { idempotencyKey: 'order-1', signal: stop.signal }));
    expect(error).toMatchObject({ code: 'aborted', idempotencyKey: 'order-1' });
    expect(received).toHaveLength(1);
  });

  const limits = { access_type: 'beta' };
  const silent: Answer = () => undefined;

  test.each([
    ['is not answered in time', silent],
    ['is answered by a truncated body', breaksOff('{"access_type"')],
    ['is answered by a body that stops arriving', standsStill('{"access_type"')],
    ['is refused by a body that stops arriving', standsStill('{"detail"', 503)],
  ])('is made after an attempt that %s', async (_how, answer) => {
    const { client } = await world([answer, ...Array<Answer>(4).fill({ body: limits })], { timeoutMs: 1_000 });
    expect(await client.getLimits()).toEqual(limits);
  });

  test('is not made after a truncated body if repeating has a further effect', async () => {
    const { client, received } = await world([breaksOff('{"event_id"')]);
    expect(await errorOf(client.retryEvent('evt_1'))).toMatchObject({ code: 'no_answer' });
    expect(received).toHaveLength(1);
  });

  test('keeps the key of a creation whose answers never end', async () => {
    const { client } = await world(Array<Answer>(2).fill(standsStill('{"payment_id"', 201)), {
      ...{ timeoutMs: 300, maxRetries: 1 },
    });
    const error = await errorOf(client.createPayment(creation, { idempotencyKey: 'order-1' }));
    expect(error).toMatchObject({ code: 'no_answer', idempotencyKey: 'order-1' });
  });

  test('ends when the caller aborts during an answer', async () => {
    const stop = new AbortController();
    const { client, received } = await world([
      (response) => {
        standsStill('{')(response);
        stop.abort(new Error('the customer left'));
      },
    ]);
    expect(await errorOf(client.getLimits({ signal: stop.signal }))).toMatchObject({ code: 'aborted' });
    expect(received).toHaveLength(1);
  });
});

describe('a cancellation', () => {
  const cancelled = { payment_id: 'pay_1', status: 'CANCELLED' };
  const conflict: Answer = { status: 409, body: { detail: 'It cannot be cancelled', code: 'cancel_unavailable' } };

  test('whose answer was lost is a success', async () => {
    const details = { ...cancelled, unmatched_transfers: [], transfers: [], warnings: [] };
    const { client, received } = await world([broken, conflict, { body: details }]);
    expect(await client.cancelPayment('pay_1')).toEqual(cancelled);
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/payments/pay_1/cancel',
      'POST /api/v1/payments/pay_1/cancel',
      'GET /api/v1/payments/pay_1/details',
    ]);
  });

  test('of a paid payment is refused', async () => {
    const { client } = await world([conflict, { body: { payment_id: 'pay_1', status: 'PAID' } }]);
    expect(await errorOf(client.cancelPayment('pay_1'))).toMatchObject({ code: 'cancel_unavailable' });
  });
});

describe('an acceptance', () => {
  const transfer = { transaction_id: 'ab'.repeat(32), transaction_event_index: 3 };
  const listed = {
    ...transfer,
    amount: '9',
    block_timestamp: '2026-03-14T09:57:11.000Z',
    reason: 'ambiguous' as const,
  };

  test('sends the fields that identify the transfer, and confirms candidates only if the caller does', async () => {
    const { client, received } = await world([{ body: {} }, { body: {} }]);
    await client.acceptTransfer('pay_1', { ...listed, candidate_count: 2 } as typeof transfer);
    await client.acceptTransfer('pay_1', { ...transfer, confirm_candidates: 2 });
    expect(received.map(({ body }) => JSON.parse(body) as object)).toEqual([
      transfer,
      { ...transfer, confirm_candidates: 2 },
    ]);
  });
});

describe('a wallet pool', () => {
  const pool = { name: 'shop', network: 'polygon' };

  test('is set by a list or by a key, repeated until it is answered, and read', async () => {
    const list = { network: 'polygon', addresses: [creation.merchant_wallet], append: true };
    const key = { network: 'polygon', xpub: 'xpub6', expect_first_address: creation.merchant_wallet };
    const { client, received } = await world([
      ...[broken, unavailable],
      ...[{ body: pool }, { body: pool }, { body: pool }, { body: { pools: [pool] } }],
    ]);
    expect(await client.putWalletPool('shop', list)).toEqual(pool);
    expect(await client.putWalletPool('shop', key)).toEqual(pool);
    expect(await client.getWalletPool('shop')).toEqual(pool);
    expect(await client.listWalletPools()).toEqual([pool]);
    expect(received.map(({ method, path }) => `${method} ${path.replace('/api/v1/merchant/', '')}`)).toEqual([
      ...Array.from({ length: 4 }, () => 'PUT wallet-pools/shop'),
      ...['GET wallet-pools/shop', 'GET wallet-pools'],
    ]);
    expect(received.slice(2, 4).map(({ body }) => JSON.parse(body) as object)).toEqual([list, key]);
  });

  test('gives addresses again at once when a rest is ended', async () => {
    const ended = { address: creation.merchant_wallet, networks: ['polygon'] };
    const rests: Answer = { status: 404, body: { detail: 'This address does not rest', code: 'not_found' } };
    const { client, received } = await world([{ body: ended }, rests]);
    expect(await client.endWalletRest(creation.merchant_wallet)).toEqual(ended);
    expect(await errorOf(client.endWalletRest(creation.merchant_wallet))).toMatchObject({ code: 'not_found' });
    expect(received.map(({ method, path, body }) => [method, path, body])).toEqual(
      received.map(() => ['DELETE', `/api/v1/merchant/wallet-rests/${creation.merchant_wallet}`, '']),
    );
  });

  test('is named by a creation instead of a wallet; the types allow exactly one of the two', async () => {
    const { client, received } = await world([{ status: 201, body: payment }]);
    const fromPool: PaymentCreation = {
      ...{ amount: '49.90', description: 'Tea' },
      ...{ wallet_pool: 'shop', accept_from_percent: 98 },
    };
    await client.createPayment(fromPool);
    expect(JSON.parse(received[0]!.body)).toEqual(fromPool);
    // @ts-expect-error both
    const both: PaymentCreation = { amount: '1', description: 'Tea', wallet_pool: 'shop', merchant_wallet: '0x' };
    // @ts-expect-error neither
    const neither: PaymentCreation = { amount: '1', description: 'Tea' };
    // @ts-expect-error a key without its first address
    const keyAlone: WalletPoolChange = { network: 'polygon', xpub: 'xpub6' };
    expect([both, neither, keyAlone]).toHaveLength(3);
  });
});

describe('many payments', () => {
  const [one, two, three] = ['pay_1', 'pay_2', 'pay_3'].map((id) => ({ payment_id: id }));
  const take = async (payments: AsyncIterable<unknown>) => {
    const taken: unknown[] = [];
    for await (const taking of payments) taken.push(taking);
    return taken;
  };

  test('are read page by page, as they are needed', async () => {
    const { client, received } = await world([
      { body: { payments: [one, two], next_cursor: 'c1' } },
      { body: { payments: [three], next_cursor: null } },
    ]);
    const payments = client.eachPayment({ status: 'PAID' });
    expect((await payments.next()).value).toEqual(one);
    expect(received).toHaveLength(1);
    expect(await take(payments)).toEqual([two, three]);
    expect(received.map(({ path }) => path)).toEqual([
      '/api/v1/payments/page?limit=100&status=PAID',
      '/api/v1/payments/page?limit=100&status=PAID&cursor=c1',
    ]);
  });

  const exported =
    (...chunks: string[]): Answer =>
    (response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      for (const chunk of chunks) response.write(chunk);
      response.end();
    };

  test('are exported completely, however the bytes arrive', async () => {
    const text = `${[one, two, { end: 2 }].map((line) => JSON.stringify(line)).join('\n')}\n`;
    const { client, received } = await world([exported(...text.match(/.{1,7}|\n/gs)!)]);
    expect(await take(client.exportPayments({ status: 'PAID' }))).toEqual([one, two]);
    expect(received[0]?.path).toBe('/api/v1/payments/export?status=PAID&format=ndjson');
  });

  test.each([
    ['without its last line', `${JSON.stringify(one)}\n`],
    ['with another count', `${JSON.stringify(one)}\n{"end":2}\n`],
    ['in the middle of a line', `${JSON.stringify(one)}\n{"payment_id`],
  ])('are an error when the export ends %s', async (_how, text) => {
    const { client } = await world([exported(text)]);
    expect(await errorOf(take(client.exportPayments()))).toMatchObject({ code: 'no_answer' });
  });

  const ways: [string, (client: Quittance, signal?: AbortSignal) => Promise<unknown>][] = [
    ['ndjson', (client, signal) => take(client.exportPayments({}, signal && { signal }))],
    ['CSV', async (client, signal) => take(await client.exportPaymentsCsv({}, signal && { signal }))],
  ];
  const line = `${JSON.stringify(one)}\n`;

  test.each(ways)('are an error when the connection breaks during an export as %s', async (_format, read) => {
    const { client, received } = await world([breaksOff(line)]);
    expect(await errorOf(read(client))).toMatchObject({ code: 'no_answer' });
    expect(received).toHaveLength(1);
  });

  test.each(ways)('are an error when an export as %s stops arriving', async (_format, read) => {
    const { client } = await world([standsStill(line)], { timeoutMs: 500, maxRetries: 0 });
    expect(await errorOf(read(client))).toMatchObject({ code: 'no_answer' });
  });

  test.each(ways)('are aborted in the middle of an export as %s', async (_format, read) => {
    const stop = new AbortController();
    const { client } = await world([
      (response) => {
        standsStill(line)(response);
        response.write(' ', () => stop.abort());
      },
    ]);
    expect(await errorOf(read(client, stop.signal))).toMatchObject({ code: 'aborted' });
  });

  test('may be exported for longer than the time limit of an answer', async () => {
    jest.useFakeTimers();
    let body!: ReadableStreamDefaultController<Uint8Array>;
    const answer = new Response(new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) }));
    const fetch: typeof globalThis.fetch = async (_url, { signal } = {}) => {
      signal?.addEventListener('abort', () => body.error(signal.reason));
      return answer;
    };
    const payments = createClient({ baseUrl: 'http://pay.example', fetch }).exportPayments();
    body.enqueue(Buffer.from(line));
    expect((await payments.next()).value).toEqual(one);
    // The shop works on the payment meanwhile.
    jest.advanceTimersByTime(60_000);
    body.enqueue(Buffer.from('{"end":1}\n'));
    expect(await take(payments)).toEqual([]);
  });
});

test('paths and secrets are sent as the API requires them', async () => {
  const { client, received } = await world([{ body: payment }, { body: { new_api_key: 'qk_2' } }]);
  await client.getPublicStatus('https://pay.example.com/pay/abc_-');
  await client.rotateApiKey('qr_1');
  expect(received.map(({ path }) => path)).toEqual(['/api/v1/payments/abc_-', '/api/v1/merchant/rotate-key']);
  // A request for a link has no key, and a rotation has only one credential.
  expect(received.map(({ headers }) => [headers['x-api-key'], headers['secret-key']])).toEqual([
    [undefined, undefined],
    [undefined, 'qr_1'],
  ]);
});

test('a base URL may have a path, with or without a slash at its end', async () => {
  const { url, received } = await world([{ body: {} }, { body: {} }]);
  const clients: Quittance[] = ['/pay', '/pay/'].map((path) => createClient({ baseUrl: url + path, apiKey: 'qk_1' }));
  for (const client of clients) await client.getLimits();
  expect(received.map(({ path }) => path)).toEqual(['/pay/api/v1/merchant/limits', '/pay/api/v1/merchant/limits']);
});
