import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/sdk';
import { storePayment } from '../src/orders.ts';
import { adminPassword, openShop, paidEvent, type OpenShop } from './open-shop.ts';

let shop: OpenShop;
beforeAll(async () => {
  shop = await openShop();
});
afterEach(() => void shop.lines.splice(0));
afterAll(() => shop.close());

const login = { Authorization: `Basic ${Buffer.from(`olga:${adminPassword}`).toString('base64')}` };
const get = (path: string, headers: Record<string, string> = {}) => fetch(shop.url + path, { headers });
const post = (path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  fetch(shop.url + path, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });

test('an order whose payment cannot be created is kept, and its page offers to try again', async () => {
  const bought = await post('/orders', { article: 'cup' });
  expect(bought.status).toBe(303);
  const place = bought.headers.get('location') ?? '';
  expect(place).toMatch(/^\/orders\/[0-9a-f-]{36}\?failed$/);
  const text = await (await get(place)).text();
  expect(text).toContain('The payment could not be started.');
  expect(text).toContain('Try again');
  expect(shop.lines).toEqual([expect.stringMatching(/^order \d+ got no payment: QuittanceError: GET \/payments: /)]);
});

test.each([
  ['PENDING', 'Not paid yet', ['Go on paying', 'Cancel']],
  ['CHECKING', 'Payment found', []],
  ['EXPIRED', 'The time to pay is over', ['Pay again']],
  ['CANCELLED', 'The payment was cancelled', ['Pay again']],
] as const)('an order whose payment is %s says so, and offers the possible actions', async (status, title, buttons) => {
  const { order_id } = await shop.order();
  const payment = { payment_id: `pay_${status}`, order_id, status, amount: '12.50' };
  const rest = { payment_url: 'http://127.0.0.1:1/pay/x', created_at: new Date().toISOString() };
  await storePayment(shop.db, { ...payment, ...rest } as Payment);
  const text = await (await get(`/orders/${order_id}`)).text();
  expect(text).toContain(`<h1>${title}</h1>`);
  expect([...text.matchAll(/<button.*?>(.*?)</g)].map(([, label]) => label)).toEqual(buttons);
});

test('a browser that orders the same again comes back to its open order, however often and fast; another browser gets its own', async () => {
  const cookie = ((await get('/')).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  expect(cookie).toMatch(/^visitor=[0-9a-f-]{36}$/);
  const count = async () => (await shop.db.query('select from shop_order')).rowCount ?? 0;
  const before = await count();
  const buy = (article: string, headers: Record<string, string>) => post('/orders', { article }, headers);
  const bought = await Promise.all([1, 2, 3].map(() => buy('teapot', { cookie })));
  expect(new Set(bought.map(({ headers }) => headers.get('location'))).size).toBe(1);
  expect(await count()).toBe(before + 1);
  await buy('cup', { cookie });
  await buy('teapot', {});
  expect(await count()).toBe(before + 3);
  // Once it is paid, the same article is a new order.
  await shop.db.query("update shop_order set paid_at = now(), paid_by = 'pay_1' where article = 'teapot'");
  await buy('teapot', { cookie });
  expect(await count()).toBe(before + 4);
});

test('one address sends twenty forms in ten minutes, and further ones create no order; other addresses are not affected', async () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const stranger = ['203.0.113.9', '2001:db8:1:2::1'];
  for (const address of stranger) {
    const answers = [];
    for (let form = 0; form < 21; form += 1) answers.push(await post('/orders', { article: 'cup' }, from(address)));
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 303), 429]);
  }
  const orders = (await shop.db.query('select from shop_order')).rowCount;
  expect((await post('/orders', { article: 'cup' }, from('2001:db8:1:2:ffff::2'))).status).toBe(429);
  expect((await post(`/orders/${(await shop.order()).order_id}/pay`, {}, from('203.0.113.9'))).status).toBe(429);
  expect((await shop.db.query('select from shop_order')).rowCount).toBe((orders ?? 0) + 1);
  expect((await post('/orders', { article: 'cup' }, from('203.0.113.10'))).status).toBe(303);
  await shop.db.query("update visitor_forms set began_at = began_at - interval '11 minutes'");
  expect((await post('/orders', { article: 'cup' }, from('203.0.113.9'))).status).toBe(303);
  expect((await shop.db.query('select from visitor_forms')).rowCount).toBe(1);
});

test('a form that another site sends is refused, whatever header the browser uses', async () => {
  const foreign = [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site', Origin: 'http://shop.example' },
    { Origin: 'http://evil.example' },
    { Origin: 'null' },
  ];
  for (const headers of foreign) expect((await post('/orders', { article: 'cup' }, headers)).status).toBe(403);
  for (const headers of [{ 'Sec-Fetch-Site': 'same-origin' }, { Origin: 'http://shop.example' }])
    expect((await post('/orders', { article: 'cup' }, headers as Record<string, string>)).status).toBe(303);
});

test("the shop's own pages require its password", async () => {
  const { order_id } = await shop.order();
  const wrong = { Authorization: `Basic ${Buffer.from('olga:correct horsf').toString('base64')}` };
  for (const path of ['/admin', `/admin/orders/${order_id}`]) {
    expect((await get(path)).status).toBe(401);
    expect((await get(path, wrong)).status).toBe(401);
    expect((await get(path, login)).status).toBe(200);
  }
  expect((await post(`/admin/orders/${order_id}/accept`)).status).toBe(401);
  expect((await post(`/admin/orders/${order_id}/accept`, {}, login)).status).toBe(404);
});

test('everything a page shows is text', async () => {
  const order = await shop.order();
  await shop.send(paidEvent(order, { expected_amount: '1', payment_id: `"><script>'&` }));
  const text = await (await get(`/admin/orders/${order.order_id}`, login)).text();
  expect(text).toContain('Payment &#34;&#62;&#60;script&#62;&#39;&#38; is for 1 USDT');
  expect(text).not.toContain('<script');
});

test('the list has every order once, page by page', async () => {
  await shop.db.query('truncate shop_order, webhook_event cascade');
  for (let count = 0; count < 51; count += 1) await shop.order();
  const first = await (await get('/admin', login)).text();
  const [, older = ''] = /href="(\/admin\?before=\d+)"/.exec(first) ?? [];
  const second = await (await get(older, login)).text();
  const numbers = [first, second].map((text) => [...text.matchAll(/orders\/[0-9a-f-]{36}">(\d+)</g)].map(([, n]) => n));
  expect(numbers.map((page) => page.length)).toEqual([50, 1]);
  expect(new Set(numbers.flat()).size).toBe(51);
  expect(second).not.toContain('before=');
});

test('an unknown path is 404, whatever its name', async () => {
  for (const path of ['/nothing', '/orders/1', `/orders/${'0'.repeat(36)}`, "/orders/'%00"])
    expect((await get(path)).status).toBe(404);
  expect((await post('/orders', { article: 'house' })).status).toBe(404);
  expect(shop.lines).toEqual([]);
});

test('every page has its content security policy, and is not cached', async () => {
  const { headers } = await get('/');
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; .*form-action 'self' http:\/\/127.0.0.1:1;/,
  );
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-powered-by')).toBeNull();
});
