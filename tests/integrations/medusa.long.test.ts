import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../browser/support/browser.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { deliverAgain, merchantOfShop, type ShopsMerchant } from './support/merchant-of-shop.ts';
import { administrator, buildMedusa, MedusaShop, type Cart, type Order, type Session } from './support/medusa.ts';
import { shopProject, type ShopProject } from './support/shop-project.ts';
import { openStorefront, type Storefront } from './support/storefront.ts';

const TEST_TIMEOUT_MS = 300_000;
const patience = { intervalMs: 500 };
const pictures = join(repositoryRoot, '.local', 'screenshots', 'integrations');

/** Installs Medusa and builds its admin the first time: 700 MB and minutes, kept in `.local`. */
describe('a shop on Medusa, with our packages as they are published', () => {
  let stack: JourneyStack;
  let browser: TestBrowser;
  let project: ShopProject;
  let storefront: Storefront;
  let merchant: ShopsMerchant;
  let shop: MedusaShop;
  let webhooks: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    project = await shopProject('medusa', buildMedusa);
    await mkdir(pictures, { recursive: true });
    stack = await journeyStack({ sharesBroker: true });
    browser = await openBrowser();
    const port = await freePort();
    webhooks = `http://127.0.0.1:${port}/hooks/payment/quittance_usdt`;
    merchant = await merchantOfShop(stack.file, webhooks);
    storefront = await openStorefront('medusa-shop/storefront.html', () => ({
      ...{ medusa: shop.url, key: shop.key, provider: 'pp_quittance_usdt' },
    }));
    env = {
      QUITTANCE_URL: stack.file.edge_url,
      QUITTANCE_API_KEY: merchant.apiKey,
      QUITTANCE_KEY_ID: merchant.keyId,
      QUITTANCE_SIGNING_KEY: merchant.signingKey,
      WALLET: merchant.wallet,
      STOREFRONT_URL: storefront.url,
    };
    const logFile = join(project.directory, 'medusa.log');
    shop = await MedusaShop.open(project, { stack: stack.file, port, env, logFile });
  }, 1_800_000);
  afterEach(() => (browser as TestBrowser | undefined)?.leaveAll());
  afterAll(async () => {
    // What did not start is undefined, and need not hide why.
    await (shop as MedusaShop | undefined)?.stop();
    await (storefront as Storefront | undefined)?.close();
    await (browser as TestBrowser | undefined)?.close();
    await (stack as JourneyStack | undefined)?.close();
  });

  const paymentOf = ({ data }: Session): string => String(data['payment_id']);
  /** The only order of a session's payment, once it is captured. */
  const captured = (session: Session): Promise<Order> =>
    eventually(async () => {
      const orders = await shop.ordersOf(paymentOf(session));
      expect(orders).toMatchObject([{ payment_status: 'captured' }]);
      return orders[0]!;
    }, patience);
  const complete = (cart: Cart) => shop.store<{ order: Order }>('POST', `/carts/${cart.id}/complete`);

  const picture = (page: Page, name: string) => page.screenshot({ path: join(pictures, `medusa-${name}.png`) });

  test(
    'sells to a customer with a browser: the order is captured by the webhook, and the shop thanks',
    async () => {
      const cart = await shop.newCart();
      // Medusa answers 400 until the cart is paid, and browsers report that.
      const { page } = await browser.visit({ expected: /status of 400/ });
      await page.goto(`${storefront.url}/?cart=${cart.id}`);
      await page.getByRole('button', { name: 'Pay with USDT' }).click();
      await page.waitForURL(`${stack.file.edge_url}/pay/*`);
      // 12.50 EUR by the stack's rates.
      await eventually(async () => expect(await page.locator('main').innerText()).toContain('14.51'), patience);
      await picture(page, 'checkout');
      await page.getByRole('link', { name: 'Back to the shop' }).click();
      const waiting = 'We are waiting for your payment.';
      await eventually(async () => expect(await page.locator('#state').innerText()).toBe(waiting), patience);
      await page.goBack();
      const paymentId = await paymentIn(cart);
      await merchant.pay(paymentId);
      await eventually(
        async () => expect(await page.locator('main').getAttribute('data-state')).toBe('paid'),
        patience,
      );
      await page.getByRole('link', { name: 'Back to the shop' }).click();
      await page.waitForURL(`${storefront.url}/checkout?cart=${cart.id}`);
      await eventually(async () => expect(await page.locator('#state').innerText()).toMatch(/^Thank you for order \d/));
      await picture(page, 'thanks');
      const [order] = await shop.ordersOf(paymentId);
      expect(order).toMatchObject({ payment_status: 'captured', payment_collections: [{ captured_amount: 12.5 }] });
    },
    TEST_TIMEOUT_MS,
  );

  async function paymentIn(cart: Cart): Promise<string> {
    type Paid = { cart: { payment_collection: { payment_sessions: Session[] } } };
    const fields = '*payment_collection.payment_sessions';
    const { cart: found } = await shop.store<Paid>('GET', `/carts/${cart.id}?fields=${fields}`);
    return paymentOf(found.payment_collection.payment_sessions[0]!);
  }

  test(
    'captures once, however often the webhook is delivered, and never for a webhook that we did not sign',
    async () => {
      const [session, forged] = [
        await shop.startPayment(await shop.newCart()),
        await shop.startPayment(await shop.newCart()),
      ];
      await merchant.pay(paymentOf(session));
      const webhook = await merchant.paidWebhook(paymentOf(session));
      const other = webhook.raw_body
        .replaceAll(paymentOf(session), paymentOf(forged))
        .replaceAll(session.id, forged.id);
      await Promise.all([
        deliverAgain(webhooks, webhook),
        deliverAgain(webhooks, webhook),
        deliverAgain(webhooks, webhook, other),
      ]);
      await captured(session);
      // Medusa acts five seconds after its answer. One that is delivered later has been acted on after those.
      const last = await shop.startPayment(await shop.newCart());
      await deliverAgain(webhooks, webhook);
      await merchant.pay(paymentOf(last));
      await captured(last);
      const order = await captured(session);
      expect(order.payment_collections[0]).toMatchObject({
        captured_amount: 12.5,
        payments: [{ captures: [{ amount: 12.5 }] }],
      });
      expect(await shop.ordersOf(paymentOf(forged))).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'waits for the rest of a payment that is too little, and shows on the order what arrived',
    async () => {
      const cart = await shop.newCart();
      const session = await shop.startPayment(cart);
      await merchant.pay(paymentOf(session), '10');
      await eventually(
        async () => expect(await merchant.details(paymentOf(session))).toMatchObject({ received_amount: '10' }),
        patience,
      );
      await expect(complete(cart)).rejects.toThrow('was not authorized');
      type Sessions = { cart: { payment_collection: { payment_sessions: Session[] } } };
      const { cart: waiting } = await shop.store<Sessions>(
        'GET',
        `/carts/${cart.id}?fields=*payment_collection.payment_sessions`,
      );
      expect(waiting.payment_collection.payment_sessions).toMatchObject([
        { status: 'pending', data: { status: 'PENDING', received_amount: '10', received: 'too little' } },
      ]);
      await merchant.pay(paymentOf(session), '5');
      const order = await captured(session);
      expect(order.payment_collections[0]?.payments[0]?.data).toMatchObject({
        ...{ status: 'PAID', amount: '14.51', received_amount: '15', received: 'too much', session_id: session.id },
      });
      const { page } = await browser.visit({ device: 'desktop', expected: /./ });
      await page.goto(`${shop.url}/app/login`);
      await page.getByPlaceholder('Email').fill(administrator.email);
      await page.getByPlaceholder('Password').fill(administrator.password);
      await page.getByRole('button', { name: 'Continue with Email' }).click();
      await page.waitForURL(/\/app\/orders/);
      await page.goto(`${shop.url}/app/orders/${order.id}`);
      const widget = page.getByRole('heading', { name: 'USDT payment' });
      await widget.waitFor();
      await widget.scrollIntoViewIfNeeded();
      await page.setViewportSize({ width: 1280, height: 1_000 });
      await picture(page, 'order');
      expect(await page.locator('body').innerText()).toContain('15 USDT, too much');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'captures what was paid while it was stopped, by the repeated webhook',
    async () => {
      const session = await shop.startPayment(await shop.newCart());
      await shop.stop();
      await merchant.pay(paymentOf(session));
      await eventually(
        async () => expect(await merchant.details(paymentOf(session))).toMatchObject({ status: 'PAID' }),
        patience,
      );
      await shop.start();
      await merchant.paidWebhook(paymentOf(session));
      await captured(session);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'captures a payment whose webhook it took and lost, by its job',
    async () => {
      const session = await shop.startPayment(await shop.newCart());
      await merchant.pay(paymentOf(session));
      await merchant.paidWebhook(paymentOf(session));
      await shop.kill();
      await shop.start();
      await captured(session);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'cancels the payment of a cart that changes, and asks for the new amount',
    async () => {
      const cart = await shop.newCart();
      const session = await shop.startPayment(cart);
      const { cart: filled } = await shop.store<{ cart: { items: { id: string }[] } }>('GET', `/carts/${cart.id}`);
      await shop.store('POST', `/carts/${cart.id}/line-items/${filled.items[0]!.id}`, { quantity: 2 });
      expect(await merchant.details(paymentOf(session))).toMatchObject({ status: 'CANCELLED' });
      const next = await shop.startPayment(cart);
      expect(await merchant.details(paymentOf(next))).toMatchObject({
        status: 'PENDING',
        price: { amount: '25.00', currency: 'EUR' },
      });
      const again = await shop.startPayment(cart);
      expect(await merchant.details(paymentOf(next))).toMatchObject({ status: 'CANCELLED' });
      await merchant.pay(paymentOf(again));
      await captured(again);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'says why it refunds nothing, and keeps the order as it is',
    async () => {
      const session = await shop.startPayment(await shop.newCart());
      await merchant.pay(paymentOf(session));
      const order = await captured(session);
      const { id } = order.payment_collections[0]!.payments[0]!;
      await expect(shop.admin('POST', `/payments/${id}/refund`, { amount: 12.5 })).rejects.toThrow(
        `400 {"type":"not_allowed","message":"Quittance cannot refund: the money of payment ${paymentOf(session)} went directly to your wallet`,
      );
      await captured(session);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'counts a dollar as a USDT where it is told so, with one wallet for all customers',
    async () => {
      const [one, other] = [await shop.newCart('usd'), await shop.newCart('usd')];
      const sessions = [
        await shop.startPayment(one, 'pp_quittance_dollars'),
        await shop.startPayment(other, 'pp_quittance_dollars'),
      ];
      const amounts = sessions.map(({ data }) => String(data['amount']));
      expect(amounts).toEqual([expect.stringMatching(/^12\.50\d\d$/), expect.stringMatching(/^12\.50\d\d$/)]);
      expect(amounts[0]).not.toBe(amounts[1]);
      await merchant.pay(paymentOf(sessions[0]!));
      expect((await captured(sessions[0]!)).payment_collections[0]).toMatchObject({ captured_amount: 12.5 });
      expect(await shop.ordersOf(paymentOf(sessions[1]!))).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test('links back only to its own site, and has no secret in what customers can read', async () => {
    const own = await shop.startPayment(await shop.newCart(), undefined, '/checkout?cart=1');
    const foreign = await shop.startPayment(await shop.newCart(), undefined, 'https://evil.example/');
    expect((await merchant.details(paymentOf(own))).return_url).toBe(`${storefront.url}/checkout?cart=1`);
    expect((await merchant.details(paymentOf(foreign))).return_url).toBe(storefront.url);
    const seen = JSON.stringify(own);
    for (const secret of [merchant.apiKey, merchant.signingKey, merchant.keyId]) expect(seen).not.toContain(secret);
  });

  test(
    'creates one payment for a session, however often Medusa repeats a call, and another one for another amount',
    async () => {
      const called = await inProject(`
        const session = { session_id: 'payses_repeated' };
        const [one, same] = await Promise.all([1, 2].map(() => provider.initiatePayment({ ...asked, data: session })));
        const update = () => provider.updatePayment({ ...asked, amount: 20, data: one.data });
        const [next, nextAgain] = [await update(), await update()];
        const kept = await provider.updatePayment({ ...asked, amount: 20, data: next.data });
        return [one, same, next, nextAgain, kept].map(({ data }) => data.payment_id);
      `);
      const [one, same, next, nextAgain, kept] = JSON.parse(called) as string[];
      expect([same, nextAgain, kept]).toEqual([one, next, next]);
      expect(await merchant.details(one!)).toMatchObject({ status: 'CANCELLED', price: { amount: '12.50' } });
      expect(await merchant.details(next!)).toMatchObject({ status: 'PENDING', price: { amount: '20.00' } });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'refuses to start with wrong options, and names each of them',
    async () => {
      const problem = await inProject(`
        const given = { apiKey: 'k', signingKeys: { whsec_secret: 'whk_1' }, walletPool: 'a', merchantWallet: 'b' };
        try { Provider.validateOptions(given); return 'accepted'; } catch (error) { return error.message; }
      `);
      expect(JSON.parse(problem)).toBe(
        'The options of @quittance/medusa: baseUrl must be the URL of your Quittance, such as https://pay.example.com; ' +
          "signingKeys must be like { whk_…: 'whsec_…' }: the key of your webhook, by its id; " +
          'set either walletPool (recommended) or merchantWallet.',
      );
    },
    TEST_TIMEOUT_MS,
  );

  /** Runs a script with the provider that the shop has installed. */
  async function inProject(script: string): Promise<string> {
    const options = {
      ...{ baseUrl: env['QUITTANCE_URL'], apiKey: merchant.apiKey, walletPool: 'shop' },
      signingKeys: { [merchant.keyId]: merchant.signingKey },
    };
    const whole = `
      const { services: [Provider] } = require('@quittance/medusa/providers/quittance').default;
      const provider = new Provider({}, ${JSON.stringify(options)});
      const asked = { amount: 12.5, currency_code: 'eur' };
      (async () => { ${script} })().then((result) => console.log(JSON.stringify(result)));
    `;
    return project.run(['--eval', whole]);
  }
});
