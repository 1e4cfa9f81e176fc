import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { mayCall } from '@quittance/contracts/principal.ts';
import { consoleRoutes } from '../src/app.ts';
import { accountRows } from '../src/merchants.ts';
import type { Clients } from '../src/services.ts';
import { parseTrustedProxies } from '@quittance/http/server/client-address.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { endWindows } from '../../api-gateway/test/gateway.ts';
import { peoplePages } from './people-pages.ts';
import { transferPages } from './transfer-pages.ts';
import { startWorld, type World } from './world.ts';

const WALLET = `0x${'ab'.repeat(20)}`;
const HOSTILE = '"><script>alert(1)</script>';

let world: World;
let merchant: string;
let payment: string;
let create: (amount: string) => Promise<string>;
const browsers = {} as Record<'viewer' | 'support' | 'admin', Awaited<ReturnType<World['browserOf']>>>;

beforeAll(async () => {
  world = await startWorld();
  const { services } = world;
  const registered = await services.merchant({ access_type: 'legacy', total_limit: 10, name: HOSTILE });
  merchant = registered.merchant_id;
  create = async (amount) => {
    const body = { amount, merchant_wallet: WALLET, description: HOSTILE, order_id: 'order 7' };
    const headers = { 'idempotency-key': randomUUID() };
    const created = await services.asMerchant<{ payment_id: string }>(registered, 'POST', '/payments', body, headers);
    expect(created.status).toBe(201);
    return created.body.payment_id;
  };
  payment = await create('1');
  for (const role of ['viewer', 'support', 'admin'] as const)
    browsers[role] = await world.browserOf(await world.credentialOf(`${role}-olga`, role));
  // Seven processes start, whatever else the machine does.
}, 300_000);
afterAll(() => world.close());
// All of them sign in from one address, which may try ten times a minute.
beforeEach(() => endWindows(world.services.pools.gateway, 'operator_sign_in'));

/** Every page and form, with ids of things that are there. */
const routes = consoleRoutes({
  clients: {} as Clients,
  logger: testLogger,
  audience: 'everyone',
  trustedProxies: parseTrustedProxies(''),
  explorer: () => null,
  passkeysFor: '',
}).filter(({ path }) => !path.startsWith('/sign-in') && !path.startsWith('/assets'));
const pathOf = (path: string): string =>
  path
    .replace(':merchant_id', merchant)
    .replace(':payment_id', payment)
    .replace(':action', 'pause')
    .replace(':event_id', newId('evt'))
    .replace(':address', WALLET)
    .replace(':transaction_id', 'a'.repeat(64))
    .replace(':index', '0')
    .replace(':name', 'payments')
    .replace(':about', 'payment')
    .replace(':incident_id', randomUUID());

describe('who has not signed in', () => {
  test('is sent to the sign-in from every route, with any cookie that is no session', async () => {
    expect(routes.length).toBeGreaterThan(25);
    for (const { method, path } of routes) {
      for (const cookie of ['', '__Host-session=guess', '__Host-session=a; __Host-session=b', 'session=x']) {
        const { status, headers, text } = await world.ask(method, pathOf(path), { cookie });
        expect([method, path, status, headers.get('location'), text]).toEqual([method, path, 303, '/sign-in', '']);
      }
    }
  });

  test('gets a session for a credential alone, in a cookie that no script and no other site can use', async () => {
    const { signedIn } = browsers.viewer;
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/']);
    expect(signedIn.headers.get('set-cookie')).toMatch(
      /^__Host-session=qs_[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    const wrong = await world.signIn(`qo_${'a'.repeat(43)}`);
    expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null]);
    expect(wrong.text).toContain('Nobody has this credential');
  });

  test('cannot be given a session from elsewhere: neither one made beforehand nor by a form of another site', async () => {
    const credential = await world.credentialOf('nina', 'viewer');
    const fixed = await world.signIn(credential, { cookie: browsers.viewer.cookie });
    expect(fixed.headers.get('set-cookie')).not.toContain(browsers.viewer.cookie);
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
    ]) {
      const forged = await world.signIn(credential, headers);
      expect([forged.status, forged.headers.get('set-cookie')]).toEqual([403, null]);
    }
  });
});

describe('a link from `ops operator link`', () => {
  test('signs in by its button, and not by being looked at', async () => {
    await world.credentialOf('lena', 'viewer');
    const { services, ask } = world;
    const path = `/operators/lena/sign-in-link`;
    const { link } = (await services.internal<{ link: string }>('api-gateway', 'POST', path, {})).body;
    for (const method of ['GET', 'HEAD', 'GET']) {
      const seen = await ask(method, `/sign-in/link/${link}`, {});
      expect([seen.status, seen.headers.get('set-cookie'), seen.headers.get('cache-control')]).toEqual([
        ...[200, null, 'no-store'],
      ]);
    }
    const forged = await ask('POST', '/sign-in/link', { origin: 'https://evil.example' }, { link });
    expect([forged.status, forged.headers.get('set-cookie')]).toEqual([403, null]);
    const signedIn = await ask('POST', '/sign-in/link', {}, { link });
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/']);
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    expect((await ask('GET', '/', { cookie })).text).toContain('@lena, viewer');
    const again = await ask('POST', '/sign-in/link', {}, { link });
    expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null]);
    expect(again.text).toContain('This link has been used or has expired');
  });

  test('shows nothing of what stands in it as markup', async () => {
    const { text } = await world.ask('GET', `/sign-in/link/${encodeURIComponent(HOSTILE)}`, {});
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;');
    expect(text).not.toContain('<script>');
  });
});

describe('pages', () => {
  test('show a merchant and a payment, and no text of theirs becomes markup', async () => {
    for (const path of [`/merchants/${merchant}`, `/payments/${payment}`, '/merchants', '/payments?q=order+7']) {
      const { status, text } = await browsers.viewer.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toContain('<script>');
    }
    expect((await browsers.viewer.get(`/merchants/${merchant}`)).text).toContain('&lt;script&gt;alert(1)');
    expect((await browsers.viewer.get('/payments?q=order+7')).text).toContain(payment);
    const search = await browsers.viewer.get(`/payments?q=${encodeURIComponent(HOSTILE)}`);
    expect(search.text).toContain('value="&quot;&gt;&lt;script&gt;');
  });

  test('are not framed, cached, or run, whatever they answer', async () => {
    for (const path of ['/', '/sign-in', `/payments/${newId('pay')}`, '/payments/x']) {
      const { headers } = await browsers.viewer.get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      expect([headers.get('x-frame-options'), headers.get('cache-control')]).toEqual(['DENY', 'no-store']);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('draw what the month came to, and say the same in words and as a table', async () => {
    const { text } = await browsers.viewer.get('/');
    expect(text).toMatch(
      /<svg[^>]*role="img"[^>]*aria-labelledby="(\S+) (\S+)"[\s\S]*<title id="\1">[\s\S]*<desc id="\2"/,
    );
    const today = new Date().toISOString().slice(0, 10);
    expect(text).toMatch(new RegExp(`<td[^>]*>${today}</td>\\s*<td[^>]*>1</td>`));
    expect(text).toMatch(/most on \d{4}-\d\d-\d\d: 1 created, 0 paid/);
  });

  test('have the runbooks, and every link in them leads to a page and a heading that is there', async () => {
    const seen = new Map<string, string>();
    const waiting = ['/runbooks'];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const { status, text } = await browsers.viewer.get(path);
      expect([path, status]).toEqual([path, 200]);
      seen.set(path, text);
      const linked = [...text.matchAll(/href="(\/runbooks[^"#]*)/g)].map(([, href = '']) => href);
      waiting.push(...linked.filter((href) => !seen.has(href) && !waiting.includes(href)));
    }
    expect([...seen.keys()]).toEqual(expect.arrayContaining(['/runbooks/payments', '/runbooks/operator']));
    for (const text of seen.values())
      for (const [, page = '', id = ''] of text.matchAll(/href="(\/runbooks[^"#]*)#([^"]+)"/g))
        expect([page, id, seen.get(page)?.includes(` id="${id}"`)]).toEqual([page, id, true]);
    expect((await browsers.viewer.get('/runbooks/settings')).status).toBe(404);
  });

  test('show an incident beside its runbook until it is resolved with a reason', async () => {
    const { rows } = await world.services.pools.payments.query<{ incident_id: string }>(
      `insert into incident (kind, payment_id, merchant_id, network, transaction_id, transaction_event_index, block_hash, opened_at)
       values ('paid_transfer_gone', $1, $2, 'local', $3, 0, 'b', now()) returning incident_id`,
      [payment, merchant, 'c'.repeat(64)],
    );
    const path = `/incidents/payment/${rows[0]?.incident_id ?? ''}`;
    const { get, submit } = browsers.support;
    expect((await get('/incidents')).text).toContain(`href="${path}"`);
    for (const part of ['PaymentIncident', 'Do not resolve before the merchant is informed', `${path}/resolve`])
      expect((await get(path)).text).toContain(part);
    expect((await browsers.viewer.get(path)).text).not.toContain(`${path}/resolve`);
    expect((await submit(`${path}/resolve`, { reason: 'paid again' })).headers.get('location')).toBe(path);
    expect((await get(path)).text).toContain('@support-olga');
    expect((await get('/incidents')).text).not.toContain(path);
    expect((await get('/incidents?status=all')).text).toContain(path);
    expect((await get(`/payments/${payment}`)).text).toContain('by @support-olga: paid again');
  });

  test('say which service does not answer, and show the rest', async () => {
    const { status, text } = await browsers.viewer.get('/');
    expect(status).toBe(200);
    expect(text).toContain('chain-watcher is unavailable');
    expect(text).toContain('Incidents about payments');
  });

  test.each(['/payments/x', '/payments/pay_1', '/merchants/..%2f', '/merchants/x/pause', '/events/x/retry'])(
    '%s is a page that says it was not found',
    async (path) => {
      const { status, text } = await browsers.admin.get(path);
      expect([status, text.includes('Not found')]).toEqual([404, true]);
    },
  );

  test('have a stylesheet that browsers keep', async () => {
    const path = /\/assets\/console\.[0-9a-f]{16}\.css/.exec((await world.ask('GET', '/sign-in', {})).text)?.[0] ?? '';
    const { status, headers } = await world.ask('GET', path, {});
    expect([status, headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect(headers.get('cache-control')).toContain('immutable');
    expect((await world.ask('GET', '/assets/main.ts', {})).status).toBe(404);
  });
});

const scene = {
  get world() {
    return world;
  },
  get merchant() {
    return merchant;
  },
  get payment() {
    return payment;
  },
  wallet: WALLET,
  create: (amount: string) => create(amount),
  get browsers() {
    return browsers;
  },
};
transferPages(scene);
peoplePages(scene, HOSTILE);

describe('what changes something', () => {
  test('is done by support, with a reason, in the name of who signed in', async () => {
    const { submit, get } = browsers.support;
    const path = `/merchants/${merchant}/pause`;
    expect(await submit(path, { reason: ' ' })).toMatchObject({ status: 422 });
    const paused = await submit(path, { reason: 'a question about taxes' });
    expect([paused.status, paused.headers.get('location')]).toEqual([303, `/merchants/${merchant}`]);
    const { text } = await get(`/merchants/${merchant}`);
    expect(text).toContain('@support-olga');
    expect(text).toContain('a question about taxes');
  });

  test('is not offered to a viewer, and refused by the services all the same', async () => {
    expect((await browsers.viewer.get(`/merchants/${merchant}`)).text).not.toContain(`${merchant}/block`);
    expect((await browsers.support.get(`/merchants/${merchant}`)).text).toContain(`${merchant}/block`);
    const forms = routes.filter(
      ({ method, path }) => method === 'POST' && path !== '/sign-out' && !/^\/(my|account)\//.test(path),
    );
    expect(forms.length).toBeGreaterThan(3);
    const formToken = /name="form_token" value="([^"]+)"/.exec((await browsers.viewer.get('/')).text)?.[1] ?? '';
    for (const { path } of forms) {
      const query = path.endsWith('/accept') ? `?transaction_id=${'a'.repeat(64)}&index=0` : '';
      const fields = { form_token: formToken, reason: 'because', name: 'web', access: 'beta', role: 'viewer' };
      const answer = await browsers.viewer.post(pathOf(path) + query, fields);
      // The incident's owner does not run or does not know it; what decides is that the role comes first.
      expect([path, answer.status, /This needs the role (support|admin)/.test(answer.text)]).toEqual([path, 403, true]);
    }
  });

  test.each(accountRows.map(({ page, role }) => [page?.path.split('/').at(-1) ?? '', role] as const))(
    '%s is offered to those whose role may, and to nobody else',
    async (name, access) => {
      expect(access).not.toBeNull();
      // It is a legacy account, not blocked and paused by now; keys are revoked where they are listed.
      const isNotNow = ['unblock', 'revoke-key', 'activate', 'extend', 'pause'].includes(name);
      for (const role of ['viewer', 'support', 'admin'] as const) {
        const { text } = await browsers[role].get(`/merchants/${merchant}`);
        const isOffered = !isNotNow && mayCall({ name: 'x', role }, access ?? 'anyone');
        expect([role, text.includes(`/merchants/${merchant}/${name}"`)]).toEqual([role, isOffered]);
      }
    },
  );

  test('takes the numbers that a limit is set by, and says which cannot be right', async () => {
    const { submit, get } = browsers.admin;
    const path = `/merchants/${merchant}/set-limits`;
    const wrongs = [{ total_limit: '-1' }, { total_limit: 'ten' }, { daily_limit: '5', no_daily_limit: 'yes' }, {}];
    for (const wrong of wrongs)
      expect([wrong, (await submit(path, { ...wrong, reason: 'agreed' })).status]).toEqual([wrong, 422]);
    const set = await submit(path, { total_limit: '25', daily_limit: '7', reason: 'agreed with the shop' });
    expect([set.status, set.headers.get('location')]).toEqual([303, `/merchants/${merchant}`]);
    expect((await get(`/merchants/${merchant}`)).text).toContain('25 in total, 7 a UTC day');
    expect((await submit(path, { no_daily_limit: 'yes', reason: 'agreed' })).status).toBe(303);
    expect((await get(`/merchants/${merchant}`)).text).toContain('25 in total, no daily limit');
  });

  test("raises a merchant's creations a minute, and takes that back", async () => {
    const { submit, get } = browsers.support;
    const path = `/merchants/${merchant}/set-creation-rate`;
    expect((await submit(path, { creations_per_minute: '29', reason: 'a sale' })).status).toBe(422);
    expect((await submit(path, { creations_per_minute: '90', reason: 'a sale' })).status).toBe(303);
    expect((await get(`/merchants/${merchant}`)).text).toMatch(/Creations a minute<\/dt>\s*<dd>90</);
    expect((await submit(path, { creations_per_minute: '', reason: 'it is over' })).status).toBe(303);
    expect((await get(`/merchants/${merchant}`)).text).toMatch(/Creations a minute<\/dt>\s*<dd>30</);
  });

  test('shows a new API key once, with which the merchant reads, until it is revoked', async () => {
    const { submit, get } = browsers.admin;
    const shown = await submit(`/merchants/${merchant}/add-key`, {
      name: HOSTILE,
      scope: 'read',
      reason: 'for reports',
    });
    const api_key = /qk_[\w-]+/.exec(shown.text)?.[0] ?? '';
    expect([shown.status, shown.headers.get('cache-control'), shown.text.includes('<script>')]).toEqual([
      200,
      'no-store',
      false,
    ]);
    const asked = () =>
      world.services.asMerchant({ merchant_id: merchant, api_key, rotation_secret: '' }, 'GET', '/payments');
    expect((await asked()).status).toBe(200);
    const { text } = await get(`/merchants/${merchant}`);
    expect(text).not.toContain(api_key);
    const revoke = /\/merchants\/\w+\/revoke-key\?name=[^"]+/.exec(text)?.[0] ?? '';
    expect((await get(revoke)).text).toContain('value="&quot;&gt;&lt;script&gt;');
    expect(
      (await submit(`/merchants/${merchant}/revoke-key`, { name: HOSTILE, reason: 'no longer used' })).status,
    ).toBe(303);
    expect((await asked()).status).toBe(401);
  });

  test('replaces credentials, shown once, and says which keys and logins still work', async () => {
    const { submit, get } = browsers.admin;
    const other = (await world.services.merchant({ access_type: 'legacy', total_limit: 10, name: 'Other' }))
      .merchant_id;
    const path = `/merchants/${other}/replace-credentials`;
    expect((await get(path)).text).toContain('Further API keys and logins do not');
    const alone = await submit(path, { reason: 'lost' });
    expect([alone.status, alone.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(alone.text).toContain('No other API key and no login of this merchant works.');
    for (const name of ['reports', 'old'])
      await submit(`/merchants/${other}/add-key`, { name, scope: 'read', reason: 'x' });
    await submit(`/merchants/${other}/revoke-key`, { name: 'old', reason: 'x' });
    const shown = (await submit(path, { reason: 'lost again' })).text;
    for (const part of [/qk_[\w-]+/, /qr_[\w-]+/, /These API keys still work/, /revoke-key\?name=reports"/])
      expect(shown).toMatch(part);
    expect(shown).not.toContain('name=old');
    expect((await get(`/merchants/${other}`)).text).not.toMatch(/q[kr]_[\w-]+/);
  });

  test('takes a wallet from its merchant, who and why in the audit', async () => {
    const path = `/wallets/${WALLET}`;
    expect((await browsers.support.get(path)).text).not.toContain(`${path}/release`);
    const { submit, get } = browsers.admin;
    const { text } = await get(`/merchants/${merchant}`);
    const link = /\/wallets\/0x\w+/.exec(text)?.[0] ?? '';
    expect(link.toLowerCase()).toBe(path);
    expect((await submit(`${link}/release`, { reason: 'the shop was sold' })).headers.get('location')).toBe(link);
    const shown = (await get(link)).text;
    for (const part of ['no merchant', '@admin-olga', 'the shop was sold']) expect(shown).toContain(part);
  });

  test('cancels a payment, and its story says so in the order of time', async () => {
    const { submit, get } = browsers.support;
    const path = `/payments/${payment}`;
    expect((await browsers.viewer.get(path)).text).not.toContain(`${path}/cancel`);
    expect((await get(path)).text).toContain(`${path}/cancel`);
    expect((await submit(`${path}/cancel`, { reason: 'ordered twice' })).headers.get('location')).toBe(path);
    const { text } = await get(path);
    expect(text).toMatch(
      /<ol class="story"[\s\S]*<strong>created<[\s\S]*<strong>cancelled<[\s\S]*by @support-olga: ordered twice/,
    );
    expect(text).not.toContain(`${path}/cancel`);
    expect(await submit(`${path}/cancel`, { reason: 'again' })).toMatchObject({ status: 409 });
  });

  test('is refused without the token of the form, with that of another session, and from another site', async () => {
    const path = `/merchants/${merchant}/resume`;
    const { post, submit } = browsers.support;
    const others = /name="form_token" value="([^"]+)"/.exec((await browsers.admin.get(path)).text)?.[1] ?? '';
    for (const token of ['', 'guess', others])
      expect([token, (await post(path, { form_token: token, reason: 'x' })).status]).toEqual([token, 403]);
    const fields = { reason: 'x' };
    expect((await submit(path, fields, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await submit(path, fields, { 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect((await submit(path, fields)).status).toBe(303);
  });

  test('is not done by a link', async () => {
    expect((await browsers.support.get('/sign-out')).status).toBe(405);
  });
});
