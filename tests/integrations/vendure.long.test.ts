import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '@quittance/local-backends/ports.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../browser/support/browser.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { deliverAgain, merchantOfShop, type ShopsMerchant } from './support/merchant-of-shop.ts';
import { shopProject, type ShopProject } from './support/shop-project.ts';
import { openStorefront, type Storefront } from './support/storefront.ts';
import { administrator, paymentOf, startPayment, VendureShop, type Order } from './support/vendure.ts';

const TEST_TIMEOUT_MS = 300_000;
const patience = { intervalMs: 500 };
const pictures = join(repositoryRoot, '.local', 'screenshots', 'integrations');

/** Installs Vendure the first time: 220 MB, kept in `.local`. */
describe('a shop on Vendure, with our packages as they are published', () => {
  let stack: JourneyStack;
  let browser: TestBrowser;
  let project: ShopProject;
  let storefront: Storefront;
  let merchant: ShopsMerchant;
  let shop: VendureShop;
  let webhooks: string;

  beforeAll(async () => {
    project = await shopProject('vendure');
    await mkdir(pictures, { recursive: true });
    stack = await journeyStack({ sharesBroker: true });
    browser = await openBrowser();
    const port = await freePort();
    webhooks = `http://127.0.0.1:${port}/payments/quittance`;
    merchant = await merchantOfShop(stack.file, webhooks);
    storefront = await openStorefront('vendure-shop/storefront.html', () => ({ shopApi: `${shop.url}/shop-api` }));
    const env = {
      QUITTANCE_URL: stack.file.edge_url,
      QUITTANCE_API_KEY: merchant.apiKey,
      QUITTANCE_KEY_ID: merchant.keyId,
      QUITTANCE_SIGNING_KEY: merchant.signingKey,
      STOREFRONT_URL: storefront.url,
    };
    const logFile = join(project.directory, 'vendure.log');
    shop = await VendureShop.open(project, { stack: stack.file, port, env, logFile });
  }, 1_800_000);
  afterEach(() => (browser as TestBrowser | undefined)?.leaveAll());
  afterAll(async () => {
    // What did not start is undefined, and need not hide why.
    await (shop as VendureShop | undefined)?.stop();
    await (storefront as Storefront | undefined)?.close();
    await (browser as TestBrowser | undefined)?.close();
    await (stack as JourneyStack | undefined)?.close();
  });

  const settled = (code: string): Promise<Order> =>
    eventually(async () => {
      const order = await shop.order(code);
      expect(order.state).toBe('PaymentSettled');
      return order;
    }, patience);

  const isPaid = (paymentId: string) =>
    eventually(async () => expect(await merchant.details(paymentId)).toMatchObject({ status: 'PAID' }), patience);

  const picture = (page: Page, name: string) => page.screenshot({ path: join(pictures, `vendure-${name}.png`) });

  test(
    'sells to a customer with a browser: the order is settled by the webhook, and the shop thanks',
    async () => {
      const customer = await shop.newCustomer();
      const { page } = await browser.visit();
      await page.goto(`${storefront.url}/?token=${customer.token}`);
      await page.getByRole('button', { name: 'Pay with USDT' }).click();
      await page.waitForURL(`${stack.file.edge_url}/pay/*`);
      // 12.50 EUR by the stack's rates.
      await eventually(async () => expect(await page.locator('main').innerText()).toContain('14.51'), patience);
      await picture(page, 'checkout');
      await page.getByRole('link', { name: 'Back to the shop' }).click();
      const waiting = 'We are waiting for your payment.';
      await eventually(async () => expect(await page.locator('#state').innerText()).toBe(waiting), patience);
      await page.goBack();
      const { paymentId } = await paymentOf(customer);
      await merchant.pay(paymentId);
      await eventually(
        async () => expect(await page.locator('main').getAttribute('data-state')).toBe('paid'),
        patience,
      );
      await page.getByRole('link', { name: 'Back to the shop' }).click();
      await page.waitForURL(`${storefront.url}/checkout?order=${customer.code}`);
      const thanks = `Thank you for order ${customer.code}.`;
      await eventually(async () => expect(await page.locator('#state').innerText()).toBe(thanks), patience);
      await picture(page, 'thanks');
      expect((await shop.order(customer.code)).payments).toMatchObject([
        { amount: 1250, state: 'Settled', transactionId: paymentId },
      ]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'settles once, however often the webhook is delivered, and refuses one that we did not sign',
    async () => {
      const [customer, other] = [await shop.newCustomer(), await shop.newCustomer()];
      const [paid, unpaid] = [await startPayment(customer), await startPayment(other)];
      await merchant.pay(paid.paymentId);
      const webhook = await merchant.paidWebhook(paid.paymentId);
      const forged = webhook.raw_body
        .replaceAll(paid.paymentId, unpaid.paymentId)
        .replaceAll(customer.code, other.code);
      const answers = await Promise.all([
        deliverAgain(webhooks, webhook),
        deliverAgain(webhooks, webhook),
        deliverAgain(webhooks, webhook, forged),
      ]);
      expect(answers).toEqual([204, 204, 400]);
      expect((await settled(customer.code)).payments).toMatchObject([{ amount: 1250, state: 'Settled' }]);
      expect(await shop.order(other.code)).toMatchObject({ state: 'ArrangingPayment', payments: [] });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'waits for the rest of a payment that is too little, and shows on the order what arrived',
    async () => {
      const customer = await shop.newCustomer();
      const { paymentId } = await startPayment(customer);
      await merchant.pay(paymentId, '10');
      await eventually(
        async () =>
          expect(await paymentOf(customer)).toMatchObject({ paymentId, status: 'PENDING', receivedAmount: '10' }),
        patience,
      );
      expect(await shop.order(customer.code)).toMatchObject({ state: 'ArrangingPayment', payments: [] });
      await merchant.pay(paymentId, '5');
      const order = await settled(customer.code);
      expect(order.payments).toMatchObject([{ metadata: { asked: '14.51 USDT on local', received: '15 USDT' } }]);
      const { page } = await browser.visit({ device: 'desktop', expected: /./ });
      await page.goto(`${shop.url}/admin/login`);
      await page.locator('input[type=text]').first().fill(administrator.name);
      await page.locator('input[type=password]').fill(administrator.password);
      await page.locator('input[type=password]').press('Enter');
      await page.waitForURL(/\/admin\/(?!login)/);
      await page.goto(`${shop.url}/admin/orders/${order.id}`);
      await page.getByText(paymentId).first().scrollIntoViewIfNeeded();
      await picture(page, 'order');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'settles what was paid while it was stopped, by the repeated webhook',
    async () => {
      const customer = await shop.newCustomer();
      const { paymentId } = await startPayment(customer);
      await shop.stop();
      await merchant.pay(paymentId);
      await isPaid(paymentId);
      await shop.start();
      await settled(customer.code);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'cancels the payment of an order that changes or is cancelled, and asks for the new amount',
    async () => {
      const customer = await shop.newCustomer();
      const first = await startPayment(customer);
      expect(await Promise.all([paymentOf(customer), paymentOf(customer)])).toEqual([first, first]);
      const { order } = await customer.call<{ order: { lines: { id: string }[] } }>(
        '{ order: activeOrder { lines { id } } }',
      );
      await customer.call('mutation { transitionOrderToState(state: "AddingItems") { ... on Order { code } } }');
      await customer.call(
        'mutation ($line: ID!) { adjustOrderLine(orderLineId: $line, quantity: 2) { ... on Order { code } } }',
        { line: order.lines[0]!.id },
      );
      const next = await startPayment(customer);
      expect(await merchant.details(first.paymentId)).toMatchObject({ status: 'CANCELLED' });
      expect(await merchant.details(next.paymentId)).toMatchObject({ price: { amount: '25.00', currency: 'EUR' } });
      const { id } = await shop.order(customer.code);
      await shop.admin('mutation ($id: ID!) { cancelOrder(input: { orderId: $id }) { ... on Order { state } } }', {
        id,
      });
      await eventually(
        async () => expect(await merchant.details(next.paymentId)).toMatchObject({ status: 'CANCELLED' }),
        patience,
      );
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'notes on a cancelled order that it was paid nevertheless',
    async () => {
      const customer = await shop.newCustomer();
      const { paymentId } = await startPayment(customer);
      await merchant.holdWebhooks();
      await merchant.pay(paymentId);
      await isPaid(paymentId);
      const { id } = await shop.order(customer.code);
      await shop.admin('mutation ($id: ID!) { cancelOrder(input: { orderId: $id }) { ... on Order { state } } }', {
        id,
      });
      await merchant.releaseWebhooks();
      await eventually(async () => {
        const { state, payments, history } = await shop.order(customer.code);
        expect([state, payments]).toEqual(['Cancelled', []]);
        expect(JSON.stringify(history)).toContain(`Quittance payment ${paymentId} of 14.51 USDT was paid`);
      }, patience);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'says why it refunds nothing, and keeps a refund pending until a person has sent the money',
    async () => {
      const customer = await shop.newCustomer();
      const { paymentId } = await startPayment(customer);
      await merchant.pay(paymentId);
      const order = await settled(customer.code);
      const [payment] = order.payments;
      expect(payment!.metadata['refund']).toMatch(/^Quittance cannot refund: the money went directly to your wallet/);
      const { refund } = await shop.admin<{ refund: { id: string; state: string } }>(
        `mutation ($payment: ID!) {
          refund: refundOrder(input: { lines: [], shipping: 0, adjustment: 0, amount: 1250, paymentId: $payment }) {
            ... on Refund { id state }
            ... on ErrorResult { errorCode message }
          }
        }`,
        { payment: payment!.id },
      );
      expect(refund).toMatchObject({ state: 'Pending' });
      const settling =
        'mutation ($id: ID!) { settleRefund(input: { id: $id, transactionId: "0xab" }) { ... on Refund { state } } }';
      expect(await shop.admin(settling, { id: refund.id })).toEqual({ settleRefund: { state: 'Settled' } });
      const { cancelled } = await shop.admin<{ cancelled: object }>(
        'mutation ($id: ID!) { cancelled: cancelPayment(id: $id) { ... on ErrorResult { errorCode message } ... on CancelPaymentError { paymentErrorMessage } } }',
        { id: payment!.id },
      );
      expect(cancelled).toMatchObject({
        paymentErrorMessage: expect.stringContaining('from which only you can return it'),
      });
      expect((await shop.order(customer.code)).payments).toMatchObject([{ state: 'Settled' }]);
    },
    TEST_TIMEOUT_MS,
  );

  test('takes no payment from the storefront, links back only to its own site, and shows no secret', async () => {
    const customer = await shop.newCustomer();
    const started = await startPayment(customer, 'https://evil.example/');
    expect((await merchant.details(started.paymentId)).return_url).toBe(storefront.url);
    const { added } = await customer.call<{ added: object }>(
      `mutation ($metadata: JSON!) {
        added: addPaymentToOrder(input: { method: "usdt", metadata: $metadata }) {
          ... on Order { state }
          ... on PaymentFailedError { paymentErrorMessage }
        }
      }`,
      { metadata: { amount: 1250, transactionId: started.paymentId } },
    );
    expect(added).toMatchObject({ paymentErrorMessage: expect.stringContaining('createQuittancePayment') });
    for (const secret of [merchant.apiKey, merchant.signingKey, merchant.keyId])
      expect(JSON.stringify([started, added])).not.toContain(secret);
  });

  test('refuses to start with wrong options, and names each of them', async () => {
    const script = `
      const { QuittancePlugin } = require('@quittance/vendure');
      const given = { apiKey: 'k', signingKeys: { whsec_secret: 'whk_1' }, walletPool: 'a', merchantWallet: 'b' };
      try { QuittancePlugin.init(given); } catch (error) { console.log(error.message); }
    `;
    expect((await project.run(['--eval', script])).trim()).toBe(
      'The options of QuittancePlugin: baseUrl must be the URL of your Quittance, such as https://pay.example.com; ' +
        "signingKeys must be like { whk_…: 'whsec_…' }: the key of your webhook, by its id; " +
        'set either walletPool (recommended) or merchantWallet.',
    );
  });
});
