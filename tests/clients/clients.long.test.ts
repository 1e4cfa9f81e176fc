import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { apiServer, type Answer as ApiAnswer } from '../../packages/sdk/test/api-server.ts';
import { rehearse } from '../../packages/sdk/src/rehearse/rehearse.ts';
import { languages, type Programs } from './languages.ts';
import { runToEnd, startDriver, startShop, type Driver } from './processes.ts';
import { chunksWithoutEnd, signedEvent, statusAtOnce, statusUntilClosed, type Head } from './raw-requests.ts';

type Vector = {
  name: string;
  problem: string | null;
  now: number;
  signing_keys: Record<string, string>;
  headers: Record<string, string>;
  body: string;
  body_base64?: string;
};

const vectorsFile = new URL('../../docs/vectors/webhook-signatures.json', import.meta.url);
const { cases: vectors } = JSON.parse(await readFile(vectorsFile, 'utf8')) as { cases: Vector[] };

const creation = { amount: '49.90', merchant_wallet: `0x${'1'.repeat(40)}`, description: 'Tea' };
const paymentId = `pay_${'1'.repeat(32)}`;
const payment = { payment_id: paymentId, payment_url: 'http://pay.example/pay/x', status: 'PENDING', amount: '49.90' };
const unavailable: ApiAnswer = {
  status: 503,
  body: { detail: 'Service temporarily unavailable', code: 'unavailable' },
};
const created: ApiAnswer = { status: 201, body: payment };
/** An answer of which the end is missing. */
const brokenOff: ApiAnswer = (response) => {
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"payment_id":"pay_', () => response.destroy());
};

for (const { name, missing, prepare } of languages) {
  const title =
    missing === null ? `the client in ${name}` : `the client in ${name}, which is not tried: there is ${missing} here`;
  (missing === null ? describe : describe.skip)(title, () => {
    let programs: Programs;
    let driver: Driver;
    const closers: (() => Promise<void>)[] = [];

    beforeAll(async () => {
      programs = await prepare();
      driver = await startDriver(programs.driver);
    }, 900_000);
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });
    afterAll(async () => {
      await driver.stop();
      await programs.remove();
    });

    /** Has the client make a call to an API that answers so. */
    async function call(answers: readonly ApiAnswer[], question: object) {
      const server = await apiServer(answers);
      closers.push(server.close);
      const settings = { base_url: `${server.url}/`, api_key: 'qk_1', timeout: 60, max_retries: 4 };
      return { ...(await driver.ask({ ...settings, ...question })), received: server.received };
    }

    test('takes every genuine webhook, and says what is wrong with every other', async () => {
      const found: Record<string, string | null> = {};
      for (const { name: vector, headers, signing_keys: keys, now, body, body_base64: base64 } of vectors) {
        const bytes = base64 ?? Buffer.from(body).toString('base64');
        const { value, problem } = await driver.ask({ do: 'verify', headers, keys, now, body: bytes });
        found[vector] = value === undefined ? (problem ?? 'no answer') : null;
      }
      expect(found).toEqual(Object.fromEntries(vectors.map(({ name: vector, problem }) => [vector, problem])));
      expect(vectors.length).toBeGreaterThan(40);
    });

    /** Has the client verify the first vector, signed by such a key. */
    async function verify(signedBy: string, question: object) {
      const [{ headers, now, body }] = vectors as [Vector];
      const hex = createHmac('sha256', signedBy).update(`${now}.${body}`).digest('hex');
      const signed = { ...headers, 'X-Service-Signature': `v1=${hex}` };
      const base64 = Buffer.from(body).toString('base64');
      return driver.ask({ do: 'verify', headers: signed, now, body: base64, ...question });
    }
    const [[keyId, key]] = Object.entries(vectors[0]!.signing_keys) as [[string, string]];

    test('keys that verify nothing are an error of the configuration, which tells no key', async () => {
      const short = key.slice(0, -1);
      // Go's types have no more.
      const texts: [unknown, string][] = [
        ['', ''],
        [null, ''],
        ['whsec_', 'whsec_'],
        [short, short],
        [`${key}\n`, `${key}\n`],
        [`qk_${'a'.repeat(43)}`, `qk_${'a'.repeat(43)}`],
      ];
      const others: [unknown, string][] =
        name === 'Go'
          ? []
          : [
              [7, '7'],
              [[key], key],
            ];
      const configuration = expect.stringMatching(/^every signing key must/);
      for (const [wrong, text] of [...texts, ...others]) {
        expect(await verify(text, { keys: { [keyId]: wrong } })).toEqual({ configuration });
        expect(await verify(key, { keys: { [keyId]: key, whk_2: wrong } })).toEqual({ configuration });
      }
      expect(await verify(key, { keys: { [key]: keyId } })).toEqual({ configuration });
      for (const keys of name === 'Go' ? [{}, null] : [{}, [key]]) {
        expect(await verify('', { keys })).toEqual({ configuration: 'there must be signing keys, by their ids' });
      }
      expect(await verify(key, { keys: { [keyId]: key } })).toHaveProperty('value');
    });

    test('a clock that is none is an error of the configuration', async () => {
      for (const clock of ['nan', 'inf']) {
        expect(await verify(key, { keys: { [keyId]: key }, clock })).toEqual({ configuration: expect.any(String) });
      }
    });

    test('takes keys in every form in which they were ever given', async () => {
      const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index));
      for (const encoding of ['base64url', 'base64'] as const) {
        const given = `whsec_${bytes.toString(encoding)}`;
        expect(await verify(given, { keys: { [keyId]: given } })).toHaveProperty('value');
      }
    });

    test('repeats a creation with one idempotency key until it is answered', async () => {
      const { value, received } = await call(
        [
          unavailable,
          brokenOff,
          {
            status: 429,
            headers: { 'retry-after': '0' },
            body: { detail: 'Rate limit exceeded', code: 'rate_limited' },
          },
          { status: 429, body: '<html>429 Too Many Requests</html>' },
          created,
        ],
        { do: 'create', arguments: [creation] },
      );
      expect(value).toMatchObject(payment);
      expect(received).toHaveLength(5);
      const keys = received.map(({ headers }) => headers['idempotency-key']);
      expect(new Set(keys)).toEqual(new Set([expect.stringMatching(/^[0-9a-f-]{32,36}$/)]));
      for (const { method, path, headers, body } of received) {
        expect([method, path, headers['x-api-key']]).toEqual(['POST', '/api/v1/payments', 'qk_1']);
        expect(JSON.parse(body)).toEqual(creation);
      }
    });

    test('goes on after a lost connection, and after an answer that does not come or stands still', async () => {
      const standsStill: ApiAnswer = (response) => {
        response.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"payment_id":"pay_');
      };
      // More answers than are wanted, for a machine that is too busy to give them in time.
      const answers: ApiAnswer[] = [
        (response) => response.destroy(),
        () => undefined,
        standsStill,
        ...Array.from({ length: 4 }, () => created),
      ];
      const question = { do: 'create', arguments: [creation, 'order-1'], timeout: 1, max_retries: 6 };
      const { value, received } = await call(answers, question);
      expect(value).toMatchObject(payment);
      expect(received.length).toBeGreaterThan(3);
      expect(new Set(received.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set(['order-1']));
    });

    test('waits as long as it is asked to, in seconds or until a date, and no longer than it may', async () => {
      const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
      for (const retryAfter of ['3600', inAnHour]) {
        const limited = { status: 429, headers: { 'retry-after': retryAfter }, body: '<h1>slow down</h1>' };
        const { error, received } = await call([limited], { do: 'create', arguments: [creation, 'order-1'] });
        expect(error).toMatchObject({ code: 'rate_limited', status: 429, idempotency_key: 'order-1' });
        expect(error!.retry_after).toBeGreaterThan(3_000);
        expect(error!.retry_after).toBeLessThanOrEqual(3_600);
        expect(received).toHaveLength(1);
      }
    });

    test('repeats no more than it may, and nothing that is refused', async () => {
      const tired = await call([unavailable, unavailable, unavailable], {
        ...{ do: 'details', arguments: [paymentId] },
        max_retries: 2,
      });
      expect(tired.error).toMatchObject({ code: 'unavailable', status: 503 });
      expect(tired.received).toHaveLength(3);
      const invalid = { detail: [{ field: 'amount', reason: 'is required' }], code: 'invalid_request' };
      const moved: ApiAnswer = { status: 301, headers: { location: '/elsewhere' }, body: '' };
      const refusals: [ApiAnswer, string, RegExp][] = [
        [{ status: 422, body: invalid }, 'invalid_request', /amount.*is required/],
        [
          { status: 409, body: { detail: 'Finish it first', code: 'payment_unfinished' } },
          'payment_unfinished',
          /Finish it/,
        ],
        [
          { status: 403, body: { detail: { code: 'beta_expired', message: 'It is over' }, code: 'beta_expired' } },
          'beta_expired',
          /It is over/,
        ],
        [{ status: 404, body: '<h1>no</h1>' }, 'not_found', /404/],
        [{ status: 200, body: '<h1>welcome</h1>' }, 'unreadable_answer', /base URL/],
        [moved, 'unreadable_answer', /301/],
      ];
      for (const [answer, code, message] of refusals) {
        const { error, received } = await call([answer], { do: 'create', arguments: [creation] });
        expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
        expect(received).toHaveLength(1);
      }
    });

    test('reads details with the key, and the public status of a link without it', async () => {
      const details = await call([{ body: payment }], { do: 'details', arguments: ['pay_1/2'] });
      expect(details.value).toMatchObject(payment);
      const link = 'https://pay.example/pay/token-1';
      const status = await call([{ body: { status: 'PAID' } }], { do: 'status', arguments: [link] });
      expect(status.value).toMatchObject({ status: 'PAID' });
      const seen = [...details.received, ...status.received];
      expect(seen.map(({ method, path, headers }) => [method, path, headers['x-api-key']])).toEqual([
        ['GET', '/api/v1/payments/pay_1%2F2/details', 'qk_1'],
        ['GET', '/api/v1/payments/token-1', undefined],
      ]);
    });

    test('creates a payment from a pool, and reads what has arrived at its own address', async () => {
      const fromPool = { amount: '49.90', wallet_pool: 'shop', description: 'Tea', accept_from_percent: 98 };
      const part = { transaction_id: 'ab'.repeat(32), transaction_event_index: 3, amount: '20' };
      const own = { dedicated: true, received_amount: '20', accept_from_percent: 98, derivation_index: 7 };
      const transfers = [{ ...part, block_timestamp: '2026-03-14T09:57:11Z', confirmed: true, counts: true }];
      const { received } = await call([created], { do: 'create', arguments: [fromPool, 'order-1'] });
      expect(JSON.parse(received[0]!.body)).toEqual(fromPool);
      const body = { ...payment, ...own, transfers };
      expect((await call([{ body }], { do: 'details', arguments: ['pay_1'] })).value).toMatchObject(body);
    });

    test('sets a pool, repeated until it is answered, and reads it', async () => {
      const list = { network: 'polygon', addresses: [creation.merchant_wallet], append: true };
      const pool = { name: 'shop', network: 'polygon', kind: 'list', size: 1, free: 1, next_index: null };
      const put = await call([unavailable, { body: pool }], { do: 'put_pool', arguments: ['shop', list] });
      const read = await call([{ body: pool }], { do: 'pool', arguments: ['shop'] });
      expect([put.value, read.value]).toMatchObject([pool, pool]);
      const seen = [...put.received, ...read.received];
      expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual(
        ['PUT', 'PUT', 'GET'].map((method) => `${method} /api/v1/merchant/wallet-pools/shop`),
      );
      expect(seen.map(({ headers }) => headers['x-api-key'])).toEqual(['qk_1', 'qk_1', 'qk_1']);
      expect(JSON.parse(put.received[1]!.body)).toEqual(list);
    });

    /** Starts the example shop with these keys. */
    async function receiver(keys: object) {
      const directory = await mkdtemp(join(tmpdir(), `quittance-test-${process.pid}-shop-`));
      closers.push(() => rm(directory, { recursive: true }));
      const settings = { DATABASE: join(directory, 'shop'), SIGNING_KEYS: JSON.stringify(keys) };
      const shop = await startShop(programs.receiver, settings);
      closers.unshift(shop.stop);
      return shop;
    }

    test('has a receiver that reads no more than an event has', async () => {
      const { url } = await receiver({ [keyId]: key });
      const { head, body } = signedEvent(keyId, key);
      const lengths = (...values: string[]): Head => values.map((value) => ['Content-Length', value]);
      const chunked: Head = [['Transfer-Encoding', 'chunked']];
      expect(await statusUntilClosed(url, [...head, ...lengths('65537')], 'x'.repeat(65_537))).toBe(413);
      const withEnd = `${chunksWithoutEnd}0\r\n\r\n`;
      // Python's server reads no chunks.
      expect(await statusUntilClosed(url, [...head, ...chunked], withEnd)).toBe(name === 'Python' ? 411 : 413);
      // The head alone decides.
      expect(await statusAtOnce(url, chunked, withEnd)).toBe(name === 'Python' ? 411 : 400);
      // PHP's own server reads all of a body before the receiver begins.
      if (name === 'PHP') return;
      expect(await statusUntilClosed(url, [...head, ...lengths('629145600')], '')).toBe(413);
      // Go answers, and closes the connection once it has heard nothing for as long as a request may take.
      const answer = name === 'Go' ? statusAtOnce : statusUntilClosed;
      expect(await answer(url, [...head, ...chunked], chunksWithoutEnd)).toBe(name === 'Python' ? 411 : 413);
      expect(await answer(url, lengths('1000'), '')).toBe(400);
      const odd = [['-1'], ['+5'], ['0x10'], ['1e3'], ['9'.repeat(5_000)], ['5', '6']];
      for (const values of odd) {
        const status = await statusUntilClosed(url, [...head, ...lengths(...values)], body);
        expect([values, status >= 400 && status < 500]).toEqual([values, true]);
      }
    });

    test('has a receiver that says when its keys verify nothing, and is paid by nobody', async () => {
      const shop = await receiver({ [keyId]: '' });
      const { head, body } = signedEvent(keyId, '');
      const sized: Head = [...head, ['Content-Length', String(body.length)], ['Connection', 'close']];
      expect(await statusUntilClosed(shop.url, sized, body)).toBe(500);
      expect(shop.said()).toContain('every signing key must');
      expect(shop.paid()).toEqual([]);
    });

    test('has an example shop in which a rehearsal finds no fault', async () => {
      const directory = await mkdtemp(join(tmpdir(), `quittance-test-${process.pid}-shop-`));
      closers.push(() => rm(directory, { recursive: true }));
      const api = await apiServer([created]);
      closers.push(api.close);
      // In both forms in which keys were ever given.
      const present = { id: 'whk_2', key: `whsec_${randomBytes(32).toString('base64')}` };
      const former = { id: 'whk_1', key: `whsec_${randomBytes(32).toString('base64url')}` };
      const settings = {
        ...{
          DATABASE: join(directory, 'shop'),
          QUITTANCE_URL: api.url,
          QUITTANCE_API_KEY: 'qk_1',
          WALLET_POOL: 'shop',
        },
        SIGNING_KEYS: JSON.stringify({ [present.id]: present.key, [former.id]: former.key }),
      };
      expect(await runToEnd(programs.order, ['order', '1007', '49.90'], settings)).toBe(payment.payment_url);
      const orders = Array.from({ length: 60 }, (_, number) => {
        return { payment_id: `pay_${randomBytes(16).toString('hex')}`, amount: `${number + 1}.50` };
      });
      await programs.addOrders(settings.DATABASE, orders);
      const shop = await startShop(programs.receiver, settings);
      closers.unshift(shop.stop);

      const report = await rehearse({
        ...{ url: shop.url, timeoutMs: 60_000, effectsWaitMs: 60_000 },
        keys: [present, former],
        payments: orders.map(({ payment_id, amount }) => ({ payment_id, expected_amount: amount })),
        effects: async () => {
          const ids = shop.paid().map((line) => line.split(' ')[1] ?? '');
          return Object.fromEntries([...Map.groupBy(ids, (id) => id)].map(([id, times]) => [id, times.length]));
        },
      });
      expect(report.checks.filter(({ result }) => result !== 'ok')).toEqual([]);
      expect(report.checks.length).toBeGreaterThan(20);
    });
  });
}
