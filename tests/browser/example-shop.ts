import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import type { StackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { shopHost, type ShopFile } from '@quittance/local-stack/stack/example-shop.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Locator, Page } from 'playwright-core';
import { ownEnvironment, type JourneyStack } from '../support/journey-stack.ts';
import { LocalChain } from '../support/local-chain.ts';
import type { ReceivedWebhook } from '../support/shop.ts';
import type { TestBrowser } from './support/browser.ts';
import { accessibilityProblems, layoutProblems } from './support/look.ts';

const patience = { intervalMs: 500 };
const TEST_TIMEOUT_MS = 300_000;
/** Number of blocks after which a transfer is final on the local chain. */
const UNTIL_FINAL = 70;

/** What its journeys use. It is set before the first of them runs. */
export type Opened = { stack: JourneyStack; directory: StackDirectory; browser: TestBrowser };

/** The shop as `npm run shop` runs it, with its customers. */
export const exampleShop = (opened: Opened): void =>
  describe('the example shop', () => {
    let shop: RunningShop;
    let account: ShopFile;
    beforeAll(async () => {
      shop = await openShop(opened.directory);
      account = JSON.parse(await readFile(opened.directory.shopFile, 'utf8')) as ShopFile;
    }, 120_000);
    afterAll(() => shop.close());

    /** Buys an article and opens the checkout page. */
    async function buy(article: string): Promise<{ page: Page; payment: PublicPayment }> {
      const { page } = await opened.browser.visit();
      await page.goto(shop.url);
      await follow(page.getByRole('button', { name: `Buy ${article}` }));
      return { page, payment: await paymentOn(page) };
    }

    async function paymentOn(page: Page): Promise<PublicPayment> {
      await page.waitForURL(`${opened.stack.file.edge_url}/pay/*`);
      const token = page.url().split('/').at(-1)!;
      const answer = await fetch(`${opened.stack.file.edge_url}/api/v1/payments/${token}`);
      return (await answer.json()) as PublicPayment;
    }

    const pay = (payment: PublicPayment, amount = payment.amount) =>
      payOnChain(opened.stack.file.chain, payment.merchant_wallet, amount);

    const shows = (page: Page, state: string) =>
      eventually(async () => expect(await page.locator('main').getAttribute('data-state')).toBe(state), patience);

    /** Opens the order's page from the checkout, and reloads it until it has this title. */
    async function orderSays(page: Page, title: string): Promise<void> {
      if (!page.url().startsWith(shop.url)) await follow(page.getByRole('link', { name: 'Back to the shop' }));
      await page.waitForURL(`${shop.url}/orders/*`);
      await eventually(async () => {
        await page.reload();
        expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(title);
      }, patience);
    }

    const administrator = async () => {
      const httpCredentials = { username: 'olga', password: account.admin_password };
      const { page } = await opened.browser.visit({ device: 'desktop', httpCredentials });
      await page.goto(`${shop.url}/admin`);
      return page;
    };

    test(
      'sells an article that is paid in two parts, and shows the order as paid once it is; its endpoint accepted the webhook',
      async () => {
        const { page, payment } = await buy('Tea bowl');
        expect(payment.amount).toBe('12.50');
        expect(await page.locator('.shop-name').innerText()).toBe('Kettle & Leaf');
        await orderSays(page, 'Not paid yet');
        await wellMade(page);
        await follow(page.getByRole('button', { name: 'Go on paying' }));
        expect(await paymentOn(page)).toEqual(payment);
        await pay(payment, '10');
        await eventually(async () => expect(await page.locator('main').innerText()).toContain('2.50'), patience);
        await pay(payment, '2.50');
        await shows(page, 'paid');
        await orderSays(page, 'Paid');
        await wellMade(page);
        const { receiver } = opened.stack.file;
        await eventually(async () => {
          const { events } = (await (await fetch(`${receiver.events_url}?host=${shopHost}`)).json()) as {
            events: (ReceivedWebhook & { answer: string | null })[];
          };
          const [taken] = events.filter(({ answer }) => answer === '204');
          expect(taken).toMatchObject({ verified: true, body: { expected_amount: payment.amount } });
        }, patience);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'sells the same article to two customers at once; a person accepts the short payment that one of them cancelled',
      async () => {
        const [exact, short] = await Promise.all([buy('Teapot'), buy('Teapot')]);
        expect(exact.payment.merchant_wallet).not.toBe(short.payment.merchant_wallet);
        await pay(exact.payment);
        await pay(short.payment, '45.50');
        await shows(exact.page, 'paid');
        await orderSays(exact.page, 'Paid');
        await orderSays(short.page, 'Not paid yet');
        await follow(short.page.getByRole('button', { name: 'Cancel' }));
        await orderSays(short.page, 'The payment was cancelled');
        await new LocalChain(opened.stack.file.chain.rpc_url).mine(UNTIL_FINAL);

        const page = await administrator();
        await wellMade(page);
        const number = await short.page.locator('dd').first().innerText();
        await follow(page.getByRole('link', { name: number }));
        await eventually(async () => {
          await page.reload();
          expect(await page.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual([
            '45.5 USDT arrived: too little',
          ]);
        }, patience);
        await wellMade(page);
        await eventually(async () => {
          const button = page.getByRole('button', { name: 'Accept 45.5 USDT' });
          if (await button.isVisible()) await follow(button);
          expect(await page.locator('dd').first().innerText()).toBe('Paid');
        }, patience);
        await orderSays(short.page, 'Paid');
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'accepts a new payment after one that was cancelled, and finds out by itself what was paid while it was not running',
      async () => {
        const { page, payment: cancelled } = await buy('Sencha');
        await orderSays(page, 'Not paid yet');
        await follow(page.getByRole('button', { name: 'Cancel' }));
        await orderSays(page, 'The payment was cancelled');
        await wellMade(page);
        const clicks = Array.from({ length: 5 }, () =>
          fetch(`${page.url()}/pay`, { method: 'POST', redirect: 'manual' }),
        );
        const places = (await Promise.all(clicks)).map(({ headers }) => headers.get('location'));
        await follow(page.getByRole('button', { name: 'Pay again' }));
        expect(places).toEqual(places.map(() => page.url()));
        const payment = await paymentOn(page);
        expect(payment.merchant_wallet).not.toBe(cancelled.merchant_wallet);

        await shop.close();
        await pay(payment);
        await shows(page, 'paid');
        shop = await openShop(opened.directory);
        const list = await administrator();
        await eventually(async () => {
          await list.reload();
          expect(await list.locator('tbody tr').first().innerText()).toMatch(/Sencha\s+9\.90 USDT\s+Paid/);
        }, patience);
        await orderSays(page, 'Paid');
        await follow(page.getByRole('link', { name: 'Kettle & Leaf' }));
        await wellMade(page);
      },
      TEST_TIMEOUT_MS,
    );
  });

type RunningShop = { url: string; close(): Promise<void> };

async function openShop({ root }: StackDirectory): Promise<RunningShop> {
  const main = fileURLToPath(new URL('../../infra/local/commands/shop.ts', import.meta.url));
  const env = { ...ownEnvironment(), LOCAL_DIRECTORY: root, RECONCILE_SECONDS: '1' };
  const child: ChildProcess = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream!.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const exited = once(child, 'exit');
  const url = await eventually(() => {
    const [, found] = /^ +shop +(\S+)$/m.exec(said) ?? [];
    if (found === undefined) throw new Error(`the shop did not open: ${said}`);
    return found;
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    url,
    close: async () => {
      child.kill('SIGINT');
      expect(await exited).toEqual([0, null]);
    },
  };
}

/** Clicks a link to another page, and waits until that page has loaded with its style. */
async function follow(target: Locator): Promise<void> {
  const page = target.page();
  await Promise.all([page.waitForEvent('framenavigated'), target.click()]);
  await page.waitForLoadState();
}

/** On every screen size and in both colour schemes. */
async function wellMade(page: Page): Promise<void> {
  for (const [width, height] of [
    [320, 568],
    [360, 740],
    [1280, 800],
  ] as const) {
    await page.setViewportSize({ width, height });
    expect([width, await layoutProblems(page)]).toEqual([width, []]);
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await accessibilityProblems(page)]).toEqual([colorScheme, []]);
  }
}
