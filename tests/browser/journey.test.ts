import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { StackDirectory } from '@quittance/local-stack/stack/directory.ts';
import type { Page, Response } from 'playwright-core';
import { withDatabase } from '../support/database.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { LocalChain } from '../support/local-chain.ts';
import { Shop } from '../support/shop.ts';
import { exampleShop, type Opened } from './example-shop.ts';
import { openBrowser, type TestBrowser } from './support/browser.ts';
import { scan } from './support/look.ts';

/** Below the limit for a merchant's requests. */
const patience = { intervalMs: 1_100 };
const WEIGHT_MAX_BYTES = 40 * 1024;

describe('a customer with a browser', () => {
  let stack: JourneyStack;
  let chain: LocalChain;
  let browser: TestBrowser;
  let shop: Shop;
  const opened = {} as Opened;

  beforeAll(async () => {
    const prepare = async (directory: StackDirectory) => void (opened.directory = directory);
    [stack, browser] = await Promise.all([journeyStack({ sharesBroker: true, prepare }), openBrowser()]);
    Object.assign(opened, { stack, browser });
    chain = new LocalChain(stack.file.chain.rpc_url);
    shop = await Shop.open(stack);
    // Chromium is downloaded when it is used for the first time.
  }, 300_000);
  afterEach(() => browser.leaveAll());
  afterAll(async () => {
    await browser.close();
    await stack.close();
  });

  const stateOf = (page: Page) => page.locator('main').getAttribute('data-state');
  const shows = (page: Page, state: string) =>
    eventually(async () => expect(await stateOf(page)).toBe(state), { intervalMs: 100 });

  test('sees the payment waiting, the transfer seen, and the payment paid, all on one page without a reload', async () => {
    const { body: payment } = await shop.create('10.50');
    const { page } = await browser.visit();
    const answers: Response[] = [];
    page.on('response', (answer) => void answers.push(answer));
    await page.goto(payment.payment_url);
    await page.evaluate('window.isSamePage = true');
    expect(await stateOf(page)).toBe('waiting');
    expect(await scan(page.locator('svg.qr'))).toMatch(
      new RegExp(`^ethereum:0x.*address=${shop.wallet}&uint256=10500000$`),
    );
    expect(await weightOf(answers)).toBeLessThanOrEqual(WEIGHT_MAX_BYTES);

    const { transactionHash } = await chain.withMiningStopped(async () => {
      const transfer = await shop.pay('10.5');
      await shows(page, 'seen');
      expect(await page.locator('.progress').innerText()).toMatch(/\d/);
      return transfer;
    });
    await shows(page, 'paid');
    // The link must not reveal who paid.
    expect(await page.content()).not.toContain(transactionHash.slice(2));
    expect(await page.evaluate('window.isSamePage')).toBe(true);
    // This tab saw it happen. Another reader of the link gets no time, by which the transfer could be found.
    expect(await page.locator('.receipt').innerText()).toMatch(/Paid on .*\d.*Print receipt/s);
    const { page: elsewhere } = await browser.visit();
    await elsewhere.goto(payment.payment_url);
    expect(await elsewhere.locator('.receipt').isVisible()).toBe(false);
    await elsewhere.locator('details.help summary').click();
    await elsewhere.locator('input[name=transaction_id]').fill(transactionHash);
    await elsewhere.locator('details.help button').click();
    expect(await elsewhere.locator('.receipt').innerText()).toMatch(/Paid on .*\d.*Print receipt/s);
  });

  test('sees when the merchant cancels', async () => {
    const { body: payment } = await shop.create('11');
    const { page } = await browser.visit({ device: 'desktop' });
    await page.goto(payment.payment_url);
    await shop.call('POST', `/payments/${payment.payment_id}/cancel`);
    await shows(page, 'cancelled');
  });

  test('sees that the time has run out, and then the outcome', async () => {
    const { body: payment } = await shop.create('12');
    const { page } = await browser.visit();
    await chain.withMiningStopped(async () => {
      await endIn(stack, payment.payment_id, 3);
      await page.goto(payment.payment_url);
      // No block proves yet that nothing was paid in time.
      await shows(page, 'over');
    });
    await shows(page, 'expired');
  });

  test('buys the same article as another customer at once; the one who drops the digits is told so, and both orders end paid', async () => {
    const article = { amount: '49.90', unique_amount: true };
    const orders = ['order-1', 'order-2'];
    const payments = await Promise.all(
      orders.map(async (order_id) => (await shop.order({ ...article, order_id })).body),
    );
    const [exact, careless] = payments as [Payment, Payment];
    expect(exact.amount).not.toBe(careless.amount);

    const { page } = await browser.visit();
    await page.goto(exact.payment_url);
    await shop.pay(exact.amount);
    await shows(page, 'paid');

    await page.goto(careless.payment_url);
    expect(await page.locator('main').innerText()).toContain(careless.amount);
    const { transactionHash } = await shop.pay('49.90');
    // An open page shows it within half a minute; this customer reloads sooner.
    await eventually(async () => {
      await page.reload();
      expect(await stateOf(page)).toBe('arrived');
    }, patience);
    // How much arrived, how much was requested, and what to quote to the shop.
    const told = await page.locator('main').innerText();
    expect(told).toMatch(/49[.]90?\b/);
    expect(told).toContain(careless.amount);
    expect(told).toContain(careless.reference);

    const { unmatched_transfers: unmatched } = await shop.details(careless.payment_id);
    expect(unmatched).toMatchObject([{ amount: '49.9', reason: 'underpaid' }]);
    const { transaction_event_index } = unmatched[0]!;
    const transfer = { transaction_id: transactionHash, transaction_event_index };
    // Refused until the transfer's block is final.
    const accepted = await eventually(async () => {
      const answer = await shop.call<Payment>('POST', `/payments/${careless.payment_id}/accept-transfer`, transfer);
      expect(answer.status).toBe(200);
      return answer.body;
    }, patience);
    expect(accepted).toMatchObject({ status: 'PAID', transaction: { amount: '49.9', accepted: true } });
    await shows(page, 'paid');

    await eventually(async () => {
      const told = (await shop.webhooks()).filter(({ body }) =>
        payments.some((one) => one.payment_id === body.payment_id),
      );
      expect(told.map(({ body }) => body)).toMatchObject(
        payments.map(({ payment_id, amount }, position) => ({
          ...{ payment_id, status: 'PAID', expected_amount: amount, requested_amount: '49.90' },
          order_id: orders[position],
        })),
      );
    }, patience);
  });

  exampleShop(opened);
});

/** Sets the end of a payment's window to `seconds` from now. The service then finds by itself that it has expired. */
async function endIn(stack: JourneyStack, paymentId: string, seconds: number): Promise<void> {
  const sql = `update payments.payment set expires_at = now() + make_interval(secs => $2), expiry_check_at = now() + make_interval(secs => $2) where payment_id = $1`;
  await withDatabase(stack.file.postgres_url, (db) => db.query(sql, [paymentId, seconds]));
}

/** Bytes of page, scripts and stylesheet as the edge sends them, including the QR code. */
async function weightOf(answers: readonly Response[]): Promise<number> {
  const files = answers.filter((answer) => /\/(pay|assets)\//.test(new URL(answer.url()).pathname));
  expect(files.map((answer) => answer.headers()['content-encoding'])).toEqual(['gzip', 'gzip', 'gzip', 'gzip']);
  const sizes = await Promise.all(files.map(async (answer) => (await answer.request().sizes()).responseBodySize));
  return sizes.reduce((sum, size) => sum + size, 0);
}
