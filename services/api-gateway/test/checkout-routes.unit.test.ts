import { describe, expect, test } from '@jest/globals';
import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import type { Reply } from '@quittance/http/server/route.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { assets } from '@quittance/checkout-page/document.ts';
import { nobody, type Shop } from '@quittance/checkout-page/shop.ts';
import { accentRoute, assetRoute, checkoutRoute } from '../src/checkout/http.ts';
import { checkoutOf } from '@quittance/testkit/sample-checkout.ts';
import { evmNetwork, WALLET } from '@quittance/testkit/sample-networks.ts';
import { fakeRequest, refusal } from './fake-request.ts';

const payment: PublicPayment = {
  status: 'PENDING',
  amount: '1234.50',
  currency: 'USDT',
  network: evmNetwork.id,
  merchant_wallet: WALLET,
  description: 'Order 7',
  expires_at: '2026-01-31T09:00:00.000Z',
};
const checkoutPayment = () => Promise.resolve({ ...checkoutOf(payment), merchant_id: 'mer_of_the_shop' });
const views = { checkoutPayment, publicPayment: () => Promise.resolve(payment), details: () => Promise.resolve(null) };

const shopOf = (merchantId: string) =>
  Promise.resolve({ ...nobody, name: merchantId === 'mer_of_the_shop' ? 'Café <b>Zentral</b>' : null });

const help = () => Promise.resolve({});

describe('files of the checkout page', () => {
  const route = assetRoute();
  const get = async (name: string) =>
    (await route.handle({ ...fakeRequest({}), params: { name } })) as Reply & { body: Buffer };

  test('of another release get the current ones, uncached', async () => {
    for (const { name, contentType, bytes } of Object.values(assets)) {
      const { body, headers } = await get(name.replace(/[0-9a-f]{16}/, '0123456789abcdef'));
      expect(body.equals(bytes)).toBe(true);
      expect(headers).toMatchObject({ 'content-type': contentType, 'cache-control': 'no-store' });
    }
  });

  test.each(['other.0123456789abcdef.js', 'checkout.js', 'checkout.0123456789abcdef.html'])(
    'have no other names, such as %s',
    async (name) => {
      expect(await refusal(() => get(name))).toMatchObject({ status: 404 });
    },
  );
});

describe('links of the checkout page', () => {
  const route = checkoutRoute({
    views,
    help,
    networks: [evmNetwork],
    shopOf,
    logger: testLogger,
  });

  test.each([
    ['de', '?lang=de&amp;qr=link'],
    ['pt-BR', '?lang=pt&amp;qr=link'],
    ['xx', '?qr=link'],
  ])('keep the language of ?lang=%s', async (lang, link) => {
    const request = { ...fakeRequest({}), query: new URLSearchParams({ lang }), params: { public_token: 'any' } };
    const page = await route.handle(request);
    expect(page.body).toContain(`href="${link}"`);
  });
});

test('the page names the shop as text', async () => {
  const route = checkoutRoute({ views, help, networks: [evmNetwork], shopOf, logger: testLogger });
  const page = await route.handle({ ...fakeRequest({}), params: { public_token: 'any' } });
  expect(page.body).toContain('Café &lt;b&gt;Zentral&lt;/b&gt;');
});

describe('who may frame the page', () => {
  const headersFor = async (shop: Partial<Shop>, view = checkoutPayment) => {
    const route = checkoutRoute({
      ...{ views: { ...views, checkoutPayment: view }, help, networks: [evmNetwork], logger: testLogger },
      shopOf: () => Promise.resolve({ ...nobody, ...shop }),
    });
    const { headers } = await route.handle({ ...fakeRequest({}), params: { public_token: 'any' } });
    const [, ancestors] = /frame-ancestors ([^;]*)$/.exec(String(headers?.['content-security-policy'])) ?? [];
    return [ancestors, headers?.['cross-origin-resource-policy']];
  };
  const embedOrigins = ['https://shop.example', 'https://www.shop.example:8443'];

  test('is nobody at first, then exactly the sites that the merchant names', async () => {
    expect(await headersFor({})).toEqual(["'none'", 'same-origin']);
    expect(await headersFor({ embedOrigins })).toEqual([
      'https://shop.example https://www.shop.example:8443',
      'cross-origin',
    ]);
  });

  test('is nobody where the payment is unknown or cannot be read', async () => {
    const unknown = () => Promise.resolve(null) as unknown as ReturnType<typeof checkoutPayment>;
    expect(await headersFor({ embedOrigins }, unknown)).toEqual(["'none'", 'same-origin']);
    expect(await headersFor({ embedOrigins }, () => Promise.reject(new Error('down')))).toEqual([
      "'none'",
      'same-origin',
    ]);
  });
});

test('a color is a stylesheet, and nothing else has a name there', async () => {
  const get = async (name: string) => accentRoute.handle({ ...fakeRequest({}), params: { name } });
  expect(await get('2446cf.css')).toMatchObject({
    status: 200,
    body: expect.stringContaining('--accent:#2446cf'),
    headers: { 'content-type': 'text/css; charset=utf-8' },
  });
  for (const name of ['2446CF.css', '2446c.css', 'red.css', '2446cf.js'])
    expect(await refusal(() => get(name))).toMatchObject({ status: 404 });
});
