import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Call } from '@quittance/contracts/call.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { issueOperatorToken } from '@quittance/http/operator-token.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { parseTrustedProxies } from '@quittance/http/server/client-address.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { startServiceProcess } from '@quittance/testkit/service-process.ts';
import { trustOf } from '@quittance/testkit/trust.ts';
import { callsOfServices } from '../../../packages/contracts/test/declared-calls.ts';
import { endWindows } from '../../api-gateway/test/gateway.ts';
import { insertPast, pastPayment, transferOf } from '../../payments/test/finding-fixtures.ts';
import { consoleRoutes } from '../src/app.ts';
import type { Clients } from '../src/services.ts';
import { HOSTILE, insertAmbiguous, openShop, personOf, type Shop } from './merchant-world.ts';
import { startWorld, type Answer, type World } from './world.ts';

// Five services and a console start for it, and everybody asks for everything.
jest.setTimeout(300_000);

let world: World;
let own: Shop;
let foreign: Shop;
let anna: Awaited<ReturnType<typeof personOf>>;
let bert: Awaited<ReturnType<typeof personOf>>;
let admin: Awaited<ReturnType<World['browserOf']>>;

beforeAll(async () => {
  world = await startWorld();
  [own, foreign] = [await openShop(world, 'Own'), await openShop(world, 'Foreign')];
  [anna, bert] = [await personOf(world, own, 'anna'), await personOf(world, foreign, 'bert')];
  admin = await world.browserOf(await world.credentialOf('olga', 'admin'));
});
afterAll(() => world.close());
beforeEach(() => endWindows(world.services.pools.gateway, 'operator_sign_in'));

const routes = consoleRoutes({
  clients: {} as Clients,
  logger: testLogger,
  audience: 'everyone',
  trustedProxies: parseTrustedProxies(''),
  explorer: () => null,
  passkeysFor: '',
}).filter(({ path }) => !path.startsWith('/sign-') && !path.startsWith('/assets'));
const ownRoutes = routes.filter(({ path }) => /^\/my(\/|$)/.test(path));
const operatorRoutes = routes.filter(({ path }) => !/^\/(my|account)(\/|$)/.test(path) && path !== '/');

type Ids = { merchantId: string; payment: string; event: string; transactionId: string };
const nobodys = (): Ids => ({
  ...{ merchantId: newId('mer'), payment: newId('pay'), event: newId('evt') },
  transactionId: 'ab'.repeat(32),
});
const pathOf = (path: string, ids: Ids): string =>
  path
    .replace(':merchant_id', ids.merchantId)
    .replace(':payment_id', ids.payment)
    .replace(':action', 'pause')
    .replace(':event_id', ids.event)
    .replace(':transaction_id/:index', `${ids.transactionId}/0`)
    .replace(':about', 'payment')
    .replace(':incident_id', randomUUID());
const pagesOf = (ids: Ids): string[] => [
  ...ownRoutes
    .filter(({ method, path }) => method === 'GET' && path !== '/my/export')
    .map(({ path }) => pathOf(path, ids)),
  '/my/export?from=2026-01-01&to=2026-12-31',
];
/** What an answer holds, except its own id. */
const shape = ({ status, headers, text }: Answer) => {
  const { 'x-request-id': _, date: _date, ...rest } = Object.fromEntries(headers);
  return { status, headers: rest, text };
};
/** Nothing of a merchant may be in what another one sees. */
const tracesOf = (shop: Shop): string[] => [
  ...[shop.merchantId, shop.payment, shop.cancelled, shop.event, shop.transactionId, shop.reference],
  ...[shop.wallet.slice(2), shop.orderId.split(' ')[0] ?? ''],
];
const expectNothingOf = (shop: Shop, { text }: Answer) => {
  const lower = text.toLowerCase();
  expect(tracesOf(shop).filter((trace) => lower.includes(trace.toLowerCase()))).toEqual([]);
};

/** On a busy machine a service may not answer in time; then its part of the page says so. */
const whole = (path: string): Promise<Answer> =>
  eventually(async () => {
    const answer = await anna.get(path);
    if (answer.status >= 500 || answer.text.includes('this part is missing')) throw new Error(`${path} is not whole`);
    return answer;
  });

describe("a merchant's person", () => {
  test('is led to the own payments, with a way to every own page and to nothing of the operators', async () => {
    expect((await anna.get('/')).headers.get('location')).toBe('/my');
    const { text } = await anna.get('/my/payments');
    expect(text).toContain('@anna, viewer');
    const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href);
    expect(links.filter((href) => !/^\/(my|account)(\/|$)/.test(href ?? ''))).toEqual([]);
    for (const path of ['/my/transfers', '/my/webhooks', '/my/limits', '/my/report']) expect(links).toContain(path);
  });

  test('sees the own data on every page, of which no text becomes markup', async () => {
    const seen: string[] = [];
    for (const path of pagesOf({ ...own, payment: own.cancelled })) {
      const answer = await whole(path);
      const isForOthers = answer.status === 403 && /This needs the role (staff|owner)/.test(answer.text);
      // A payment that was cancelled has no proof.
      const status = path === `/my/payments/${own.cancelled}/proof` ? 409 : 200;
      expect([path, isForOthers ? 200 : answer.status]).toEqual([path, status]);
      if (!path.startsWith('/my/export')) expect(answer.text).not.toContain('<script>');
      expectNothingOf(foreign, answer);
      seen.push(answer.text);
    }
    const all = seen.join('\n');
    for (const trace of [own.payment, own.cancelled, own.event, own.transactionId, own.reference, 'connect refused'])
      expect([trace, all.includes(trace)]).toEqual([trace, true]);
    const story = await whole(`/my/payments/${own.cancelled}`);
    expect(story.text).toContain('&lt;script&gt;alert(1)');
    for (const text of ['webhook payment.cancelled', 'attempt 1 at', 'unmatched: underpaid', 'Metadata'])
      expect(story.text).toContain(text);
  });

  test('reads why a PAID payment has no proof, as operators do, on its page and in place of the file', async () => {
    const paid = pastPayment({ merchant_id: own.merchantId, created_at: new Date(), status: 'PAID' });
    await insertPast(world.services.pools.payments, [paid], [transferOf(paid, false, 6)]);
    const reason = 'Blocks of Local cannot be proven';
    for (const [person, path] of [
      [anna, `/my/payments/${paid.payment_id}`],
      [admin, `/payments/${paid.payment_id}`],
    ] as const) {
      const [shown, file] = [await person.get(path), await person.get(`${path}/proof`)];
      expect([path, shown.status, file.status]).toEqual([path, 200, 409]);
      expect(shown.text).toContain(`There is none. ${reason}.`);
      expect(shown.text).not.toContain('Download proof of payment');
      expect([file.headers.get('content-type'), file.text]).toEqual([
        'text/html; charset=utf-8',
        expect.stringContaining(reason),
      ]);
    }
    expect((await anna.get(`/my/payments/${own.payment}`)).text).not.toContain('Proof of payment');
  });

  test('sees which own payments a transfer may be for, that others may be meant, and none of the others', async () => {
    const merchant = { merchant_id: own.merchantId, block_timestamp: new Date() };
    const shared = await insertAmbiguous(world, [own.payment, own.cancelled, foreign.payment], merchant);
    const one = await insertAmbiguous(world, [own.payment, foreign.payment], merchant);
    const list = await whole('/my/transfers');
    const links = `<ul class="candidates">\\s*<li>.*${own.payment}.*</li>\\s*<li>.*${own.cancelled}.*</li>\\s*</ul>`;
    const several = 'May be for 2 payments, also for a payment of another merchant';
    expect(list.text).toMatch(new RegExp(`${several}\\s*${links}`));
    expect(list.text).toMatch(
      new RegExp(
        `May be for <span[^>]*><a href="/my/payments/${own.payment}">[^<]*</a></span>, also for a payment of another merchant`,
      ),
    );
    expect(list.text).toContain('any of their customers may have sent it');
    const found = await whole(`/my/payments?q=${shared}`);
    expect(found.text).toContain(several);
    const details = await whole(`/my/payments/${own.payment}`);
    for (const text of [shared, one, '3 payments, this one included', '2 payments, this one included'])
      expect([text, details.text.includes(text)]).toEqual([text, true]);
    for (const answer of [list, found, details]) expectNothingOf(foreign, answer);
  });

  test('finds the own payments by whatever names them', async () => {
    const { text: shown } = await anna.get(`/my/payments/${own.payment}`);
    const wallet = /0x[0-9a-fA-F]{40}/.exec(shown)?.[0] ?? '';
    for (const text of [own.payment, own.orderId, own.reference, wallet]) {
      const answer = await anna.get(`/my/payments?q=${encodeURIComponent(text)}`);
      expect([text, answer.status, answer.text.includes(`/my/payments/${own.payment}`)]).toEqual([text, 200, true]);
    }
    expect((await anna.get('/my/payments?status=CANCELLED')).text).not.toContain(own.payment);
    expect((await anna.get('/my/payments?status=CANCELLED')).text).toContain(own.cancelled);
    const by = await anna.get(`/my/payments?q=0x${own.transactionId}`);
    expect([by.status, by.text.includes(own.cancelled)]).toEqual([200, true]);
  });

  test("gets for another merchant's things, byte by byte, what it gets for things that are not there", async () => {
    expect(ownRoutes.length).toBeGreaterThan(6);
    expect(operatorRoutes.length).toBeGreaterThan(15);
    const formToken = await anna.formToken();
    for (const { method, path } of [...operatorRoutes, ...ownRoutes.filter((route) => route.path.includes(':'))]) {
      const answers = await Promise.all(
        [foreign, nobodys()].map(async (ids) => {
          const at = pathOf(path, ids);
          return method === 'GET' ? anna.get(at) : anna.post(at, { form_token: formToken, reason: 'because' });
        }),
      );
      const status = path.startsWith('/my/transfers/') ? 403 : 404;
      expect([method, path, answers[0]?.status]).toEqual([method, path, status]);
      expect(shape(answers[0]!)).toEqual(shape(answers[1]!));
      expectNothingOf(foreign, answers[0]!);
    }
  });

  test("does not find another merchant's payments by anything that names them, nor by a cursor of theirs", async () => {
    const { text: shown } = await bert.get(`/my/payments/${foreign.payment}`);
    const wallet = /0x[0-9a-fA-F]{40}/.exec(shown)?.[0] ?? '';
    const named = [foreign.payment, foreign.orderId, foreign.reference, foreign.transactionId, wallet];
    const none = [newId('pay'), 'no such order', 'ZZZZZZZZ', 'ab'.repeat(32), `0x${'cd'.repeat(20)}`];
    for (const [n, text] of named.entries()) {
      const search = async (q: string) => {
        const { text: answer } = await anna.get(`/my/payments?q=${encodeURIComponent(q)}`);
        return answer.replace(/(name="q"\s+type="search"\s+value=")[^"]*"/, '$1"');
      };
      expect(await search(text)).toBe(await search(none[n] ?? ''));
    }
    const ids = Array.from({ length: 51 }, () => randomUUID());
    for (const id of ids.slice(0, 51)) {
      const body = { amount: '2', merchant_wallet: `0x${id.replaceAll('-', '')}11111111`, description: 'Foreign page' };
      const created = await world.services.asMerchant(foreign.registered, 'POST', '/payments', body, {
        'idempotency-key': id,
      });
      if (created.status === 429) await endWindows(world.services.pools.gateway, 'creation');
    }
    const older = /href="(\/my\/payments\?cursor=[^"]+)"/.exec((await bert.get('/my/payments')).text)?.[1];
    expect(older).toBeDefined();
    expectNothingOf(foreign, await anna.get(older ?? ''));
  });

  test('cannot be signed in by anybody else: not after ten attempts in a minute, not with a session made beforehand', async () => {
    const again = await world.signIn(anna.credential, { cookie: bert.cookie });
    expect([again.status, again.headers.get('location')]).toEqual([303, '/']);
    expect(again.headers.get('set-cookie')).not.toContain(bert.cookie);
    const forged = await world.signIn(anna.credential, { origin: 'https://evil.example' });
    expect([forged.status, forged.headers.get('set-cookie')]).toEqual([403, null]);
    await world.services.pools.gateway.query(
      `update rate_limit_window set count = 10, ends_at = clock_timestamp() + interval '1 hour' where scope = 'operator_sign_in'`,
    );
    const refused = await world.signIn(anna.credential);
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([429, null]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('is out at once when disabled, and while the merchant is blocked', async () => {
    const carla = await personOf(world, own, 'carla');
    await world.services.internal('api-gateway', 'POST', `/merchants/${own.merchantId}/block`, {});
    for (const path of pagesOf(own)) {
      const answer = await carla.get(path);
      expect([path, answer.status, answer.headers.get('location'), answer.text]).toEqual([path, 303, '/sign-in', '']);
    }
    expect((await world.signIn(carla.credential)).status).toBe(401);
    await world.services.internal('api-gateway', 'POST', `/merchants/${own.merchantId}/unblock`, {});
    expect((await carla.get('/my/payments')).status).toBe(200);
    await world.services.internal('api-gateway', 'POST', `/merchants/${own.merchantId}/logins/carla/disable`, {});
    expect((await carla.get('/my/payments')).headers.get('location')).toBe('/sign-in');
    expect((await anna.get('/my/payments')).status).toBe(200);
  });
});

describe("the services themselves, asked with the token of a merchant's person", () => {
  /** What a merchant's list needs to be asked for. */
  const queries: Record<string, string> = {
    report: '?from=2026-01-01&to=2027-01-01&group=month',
    totals: '?from=2026-01-01&to=2026-01-31',
    transfers: `?transaction_id=${'ab'.repeat(32)}`,
  };
  const ask = async (call: Call, ids: Ids) => {
    const { env } = world.services;
    const urls: Partial<Record<string, string>> = {
      ...{
        'api-gateway': env.API_GATEWAY_URL,
        payments: env.PAYMENTS_URL,
        quota: env.QUOTA_URL,
        'webhook-dispatcher': env.WEBHOOK_DISPATCHER_URL,
      },
    };
    const token = issueOperatorToken(trustOf('api-gateway'), {
      ...{ name: 'anna', role: 'merchant', merchant_id: own.merchantId, merchant_role: 'owner' },
    });
    const path = pathOf(call.path.replace(':merchant_id', own.merchantId), ids);
    const query = queries[path.split('/').at(-1) ?? ''] ?? '';
    const response = await fetch(`${urls[call.owner]}${path}${query}`, { headers: { 'x-operator-token': token } });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const open = callsOfServices.filter(({ forMerchants, method }) => forMerchants !== null && method === 'GET');

  test("answer for another merchant's payments and events, byte by byte, as for ones that are not there", async () => {
    const named = open.filter(({ path }) => /:(payment|event)_id/.test(path));
    expect(named.length).toBeGreaterThan(2);
    for (const call of named) {
      const mine = { ...own, payment: own.cancelled };
      const theirs = { ...foreign, payment: foreign.cancelled };
      const [known, hidden, unknown] = [await ask(call, mine), await ask(call, theirs), await ask(call, nobodys())];
      if (call.path.endsWith('/proof')) expect(known.text).toContain('CANCELLED');
      else
        expect([call.path, known.status, known.text.includes(own.event) || known.text.includes(own.cancelled)]).toEqual(
          [call.path, 200, true],
        );
      expect([call.path, shape(hidden)]).toEqual([call.path, shape(unknown)]);
      expectNothingOf(foreign, hidden);
    }
  });

  test("have nothing of another merchant's in any list", async () => {
    const lists = open.filter(({ path }) => !/:(payment|event)_id/.test(path));
    expect(lists.length).toBeGreaterThan(6);
    for (const call of lists) {
      const answer = await ask(call, nobodys());
      // Nobody answers for the chain here.
      expect([call.path, [200, 503].includes(answer.status)]).toEqual([call.path, true]);
      if (answer.status === 503) expect(call.path).toMatch(/\/transfers$/);
      expectNothingOf(foreign, answer);
    }
  });
});

describe('pages of merchants', () => {
  test('are not framed, cached or run, downloads included', async () => {
    for (const path of [...pagesOf(own), '/my/payments/x', '/merchants', '/my/export']) {
      const { headers } = await anna.get(path);
      expect([path, headers.get('x-frame-options'), headers.get('cache-control')]).toEqual([path, 'DENY', 'no-store']);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  test('are not there for operators', async () => {
    for (const { method, path } of ownRoutes) {
      const token = /name="form_token" value="([^"]+)"/.exec((await admin.get('/')).text)?.[1] ?? '';
      const at = pathOf(path, own);
      const answer = await (method === 'GET' ? admin.get(at) : admin.post(at, { form_token: token }));
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });

  test('search for what is hostile, and show it as text', async () => {
    const { text } = await anna.get(
      `/my/payments?q=${encodeURIComponent(HOSTILE)}&status=${encodeURIComponent('"><b>')}`,
    );
    expect(text).not.toMatch(/<script>|<b>/);
    expect((await anna.get('/my/report?from=2026-01-01%22%3E%3Cscript%3E&to=2026-01-02')).text).not.toContain(
      '<script>',
    );
  });
});

describe('a test event', () => {
  const tests = async () => {
    const { rows } = await world.services.pools.gateway.query<{ actor: string }>(
      `select actor from merchant_audit where merchant_id = $1 and action = 'test_webhook'`,
      [own.merchantId],
    );
    return rows.map(({ actor }) => actor);
  };

  test('is sent by the own form alone: with its token, of this session, from this site', async () => {
    const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
      world.ask('POST', '/my/webhooks/test', { cookie: anna.cookie, ...headers }, fields);
    const token = await anna.formToken();
    for (const form_token of ['', 'guess', await bert.formToken()])
      expect((await post({ form_token })).status).toBe(403);
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }])
      expect((await post({ form_token: token }, headers)).status).toBe(403);
    expect((await anna.get('/my/webhooks/test')).status).toBe(405);
    expect(await tests()).toEqual([]);
    const { status, text } = await post({ form_token: token });
    expect([status, text.includes('connect refused'), await tests()]).toEqual([200, true, ['@merchant/anna']]);
  });
});

test('a console for merchants alone lets no operator in, with a credential, a link or a session from elsewhere', async () => {
  const settings = { ...world.settings, CONSOLE_AUDIENCE: 'merchants' };
  const desk = await startServiceProcess(new URL('../src/main.ts', import.meta.url), settings);
  try {
    const credential = await world.credentialOf('ada', 'admin');
    const refused = await world.askAt(desk.url, 'POST', '/sign-in', {}, { credential });
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([401, null]);
    const unknown = await world.askAt(desk.url, 'POST', '/sign-in', {}, { credential: `qo_${'a'.repeat(43)}` });
    expect(refused.text).toBe(unknown.text);
    const made = await world.services.internal<{ link: string }>(
      'api-gateway',
      'POST',
      '/operators/ada/sign-in-link',
      {},
    );
    const { link } = made.body;
    expect((await world.askAt(desk.url, 'POST', '/sign-in/link', {}, { link })).status).toBe(401);
    for (const path of ['/', '/merchants', '/my/payments']) {
      const { status, headers } = await world.askAt(desk.url, 'GET', path, { cookie: admin.cookie });
      expect([path, status, headers.get('location')]).toEqual([path, 303, '/sign-in']);
    }
    expect((await world.askAt(desk.url, 'GET', '/my/payments', { cookie: anna.cookie })).status).toBe(200);
    // Nobody is left signed in who was refused.
    const { rows } = await world.services.pools.gateway.query("select from operator_session where operator = 'ada'");
    expect(rows).toHaveLength(0);
  } finally {
    await desk.stop();
  }
});
