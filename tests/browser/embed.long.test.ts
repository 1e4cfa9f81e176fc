import { createServer } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { buildAll } from '../../infra/release/packages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { checkout, EVM_WALLET } from './support/checkouts.ts';
import { useStage } from './support/use-stage.ts';

/** The checkout page in a frame of a shop, opened by the published script. The shop is another site: it has another port. */

const opened = useStage();
const shop = { named: '', other: '', script: '', close: [] as (() => Promise<unknown>)[] };

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quittance-embed-'));
  shop.close.push(() => rm(folder, { recursive: true, force: true }));
  await buildAll(folder);
  shop.script = await readFile(join(folder, 'sdk', 'dist', 'esm', 'embed.js'), 'utf8');
  [shop.named, shop.other] = [await serveShop(), await serveShop()];
}, 300_000);
afterAll(async () => {
  for (const close of shop.close) await close();
});

/** Its page may run only its own scripts, and no inline style. @returns its origin. */
async function serveShop(): Promise<string> {
  const server = createServer(({ url }, response) => {
    response.setHeader('content-security-policy', "default-src 'self'; frame-src *");
    response.setHeader('content-type', url === '/embed.js' ? 'text/javascript' : 'text/html');
    response.end(url === '/embed.js' ? shop.script : '<!doctype html><title>Shop</title><h1>Cart</h1>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  shop.close.push(async () => {
    server.closeAllConnections();
    await promisify(server.close.bind(server))();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Runs in the shop's page: shows the payment, and writes down what is heard. */
const open = (url: string) => `(async () => {
  const { openCheckout } = await import('/embed.js');
  window.heard = [];
  addEventListener('message', ({ data }) => heard.push({ message: data }));
  openCheckout(${JSON.stringify(url)}, {
    onStatus: (status) => heard.push(status),
    onClose: (status) => heard.push({ closed: status }),
  });
})()`;

async function visitShop(origin: string, url: string, expected?: RegExp) {
  const { page } = await opened.browser.visit({ device: 'desktop', ...(expected && { expected }) });
  await page.goto(origin);
  await page.evaluate(open(url));
  return page;
}
const heardBy = (page: Page) => page.evaluate<unknown[]>('window.heard');

test('a named site shows the page, hears each status, and can copy and close', async () => {
  const merchant_id = await opened.stage.shopCalled('Café Zoë', ['https://elsewhere.example', shop.named]);
  const url = opened.stage.show(checkout('waiting', { merchant_id, return_url: 'https://shop.example/orders/1' }));
  const page = await visitShop(shop.named, url);
  const frame = page.frameLocator('iframe');
  expect(await frame.locator('h1').innerText()).toBe('Waiting for your payment');
  expect(await frame.locator('a.back').getAttribute('target')).toBe('_top');
  await frame.locator('button.copy').first().click();
  await eventually(async () => expect(await frame.locator('button.copy').first().innerText()).toContain('Copied'));
  opened.stage.change(url, checkout('paid', { merchant_id }));
  await eventually(async () => expect(await frame.locator('h1').innerText()).toBe('Paid'), { timeoutMs: 30_000 });
  const messages = [{ message: { status: 'PENDING' } }, { message: { status: 'PAID' } }];
  expect((await heardBy(page)).filter((each) => typeof each === 'string')).toEqual(['PENDING', 'PAID']);
  expect((await heardBy(page)).filter((each) => typeof each !== 'string')).toEqual(messages);
  await page.getByRole('button', { name: 'Close' }).click();
  await eventually(async () => expect((await heardBy(page)).at(-1)).toEqual({ closed: 'PAID' }));
  expect(await page.locator('dialog').count()).toBe(0);
});

test('another site gets an empty frame, hears nothing, and has the link', async () => {
  const merchant_id = await opened.stage.shopCalled('Café Zoë', [shop.named]);
  const url = opened.stage.show(checkout('waiting', { merchant_id }));
  const page = await visitShop(shop.other, url, /frame-ancestors|chromewebdata/);
  await eventually(() => expect(page.frames().map((frame) => frame.url())).toContain('chrome-error://chromewebdata/'));
  expect(await page.getByRole('link', { name: 'Open in a new tab' }).getAttribute('href')).toBe(url);
  expect(await heardBy(page)).toEqual([]);
});

test('a message of another window is not taken for a status', async () => {
  const merchant_id = await opened.stage.shopCalled('Café Zoë', [shop.named]);
  const url = opened.stage.show(checkout('waiting', { merchant_id }));
  const page = await visitShop(shop.named, url);
  await eventually(async () => expect(await heardBy(page)).toContain('PENDING'));
  await page.evaluate(`postMessage({ status: 'PAID' }, '*')`);
  await eventually(async () => expect(await heardBy(page)).toContainEqual({ message: { status: 'PAID' } }));
  expect(await heardBy(page)).not.toContain('PAID');
});

test('the button of a wallet opens the page in a tab of its own', async () => {
  const merchant_id = await opened.stage.shopCalled('Café Zoë', [shop.named]);
  const evm = { network: 'ethereum', merchant_wallet: EVM_WALLET } as const;
  const url = opened.stage.show(checkout('waiting', { merchant_id, ...evm }));
  const { page, context } = await opened.browser.visit({ device: 'desktop' });
  await context.addInitScript(`window.ethereum = { request: ({ method }) => { throw new Error(method); } }`);
  await page.goto(shop.named);
  await page.evaluate(open(url));
  const tab = context.waitForEvent('page');
  await page.frameLocator('iframe').locator('.wallet-buttons button').click();
  expect((await tab).url()).toBe(url);
});
