import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { referenceOf } from '@quittance/contracts/payment-reference.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Page } from 'playwright-core';
import { verifyProof, type PaymentProof } from '../../packages/sdk/src/index.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { Shop } from '../support/shop.ts';
import { openBrowser, type TestBrowser } from './support/browser.ts';
import {
  acceptPath,
  consolePages,
  expectedOfConsole as expected,
  fillConsole,
  loseMoney,
  merchantPersonCalled,
  operatorCalled,
  orderOf,
  pagesOf,
  payEither,
  signIn,
  visitors,
  welcomeVisitors,
  type ConsoleData,
  type Visitor,
} from './support/console-pages.ts';
import { accessibilityProblems, layoutProblems } from './support/look.ts';
import { DESCRIPTION, fillMonth, linesOf, sumsInDatabase, sumsOfLines, sumsOnPage } from './support/merchant-month.ts';

/** Operators then have their own role without one. back-office.long.test.ts has them. */
const withoutPasskeys = { CONSOLE_RP_ID: '' };

let stack: JourneyStack;
let browser: TestBrowser;
let shop: Shop;
let data: ConsoleData;
let credentials: Record<Visitor, string>;

beforeAll(async () => {
  [stack, browser] = await Promise.all([
    journeyStack({ sharesBroker: true, settings: withoutPasskeys }),
    openBrowser(),
  ]);
  shop = await Shop.open(stack);
  data = await fillConsole(stack, shop);
  credentials = await welcomeVisitors(stack, data);
  // Chromium is downloaded when it is used for the first time.
}, 300_000);
afterEach(() => browser.leaveAll());
afterAll(async () => {
  await browser.close();
  await stack.close();
});

/** The page of a visitor with this device, who has signed in. */
async function signedIn(visitor: Visitor, device: 'smallPhone' | 'phone' | 'desktop'): Promise<Page> {
  const page = await browser.look({ device, expected, javaScriptEnabled: true }, visitor);
  if (!page.url().startsWith(stack.file.console_url)) await signIn(page, stack, credentials[visitor]);
  return page;
}

/** Tables that are wider than the room for them; the smallest phone may scroll within a table. */
const cutTables = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.getAttribute('aria-labelledby'))`,
  );

const everyPage = visitors.flatMap((visitor) =>
  Object.entries(pagesOf[visitor]).map(([name, pathOf]) => ({ visitor, name, pathOf })),
);

describe.each(everyPage)('the page $name', ({ visitor, pathOf }) => {
  test.each(['phone', 'desktop'] as const)('is accessible on a %s, in light and dark mode', async (device) => {
    const page = await signedIn(visitor, device);
    await page.goto(`${stack.file.console_url}${pathOf(data)}`);
    // From the last one on, because those that are open are not counted any more.
    const closed = await page.locator('details:not([open]) summary:visible').all();
    for (const summary of closed.toReversed()) await summary.click();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await accessibilityProblems(page)]).toEqual([colorScheme, []]);
    }
    expect([await layoutProblems(page), await cutTables(page)]).toEqual([[], []]);
  });

  test('fits on the smallest phone', async () => {
    const page = await signedIn(visitor, 'smallPhone');
    await page.goto(`${stack.file.console_url}${pathOf(data)}`);
    expect(await layoutProblems(page)).toEqual([]);
  });
});

test('a page says its times in the zone of the browser, copies whole ids, and opens its menu on a phone', async () => {
  const look = { timezoneId: 'Asia/Tokyo', permissions: ['clipboard-read', 'clipboard-write'] };
  const { page } = await browser.visit({ device: 'phone', ...look, expected });
  await signIn(page, stack, credentials.operator);
  await page.goto(`${stack.file.console_url}/payments?q=${data.lost.transaction_id}`);
  const time = page.locator('td time').first();
  const at = new Date((await time.getAttribute('datetime')) ?? '');
  const inTokyo = new Intl.DateTimeFormat('en-GB', {
    ...{ dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Tokyo' },
  });
  expect([await time.innerText(), await time.getAttribute('title')]).toEqual([
    inTokyo.format(at),
    expect.stringMatching(/ UTC$/),
  ]);
  await page
    .getByRole('button', { name: `Copy ${data.underpaid}` })
    .first()
    .click();
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(data.underpaid);
  await page.locator('.menu summary').click();
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Runbooks' }).click();
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Runbooks');
});

test.each(['/sign-in', '/sign-in/link/anything'])('%s is accessible', async (path) => {
  for (const device of ['smallPhone', 'desktop'] as const) {
    const { page } = await browser.visit({ device });
    await page.goto(`${stack.file.console_url}${path}`);
    expect([await accessibilityProblems(page), await layoutProblems(page)]).toEqual([[], []]);
    // Not in the narrow column of the navigation, which is not there.
    const { width = 0 } = (await page.locator('main').boundingBox()) ?? {};
    expect([device, width]).toEqual([device, device === 'desktop' ? 416 : 320]);
  }
});

test("support finds a customer's lost 48.90 by the transaction and accepts it with a reason, without any script", async () => {
  const other = await Shop.open(stack);
  const order = await orderOf(other, 'order 4712');
  const lost = await loseMoney(other, order.payment_id, '48.90');
  const { page } = await browser.visit({ device: 'desktop', expected, javaScriptEnabled: false });
  await signIn(page, stack, await operatorCalled(stack, 'sam', 'support'));
  // Refused until the transfer's block is final.
  await eventually(
    async () => {
      await page.goto(stack.file.console_url);
      await page.getByLabel('transaction id').fill(`0x${lost.transaction_id}`);
      await page.getByRole('button', { name: 'Find' }).click();
      await page.getByRole('link', { name: 'Accept', exact: true }).click();
      const question = await page.locator('main').innerText();
      for (const part of ['48.9 USDT', '49.90 USDT', 'underpaid', order.payment_id]) expect(question).toContain(part);
      await page.getByLabel('Why, for the audit').fill('a euro short, the shop agrees');
      await page.getByRole('button', { name: 'Accept' }).click();
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(`Payment ${order.payment_id}`);
    },
    { intervalMs: 1_100 },
  );
  expect(await page.locator('dd .badge').first().innerText()).toBe('PAID');
  const story = await page.locator('.story').innerText();
  expect(story).toContain('by @sam: a euro short, the shop agrees');
  expect(await other.details(order.payment_id)).toMatchObject({ status: 'PAID', transaction: { amount: '48.9' } });
  await eventually(async () => {
    const told = (await other.webhooks()).map(({ body }) => body.payment_id);
    expect(told).toContain(order.payment_id);
  });
  // The webhook's attempt is also part of the history.
  await eventually(
    async () => {
      await page.reload();
      expect(await page.locator('.story').innerText()).toMatch(/attempt 1 at PAID\s+answered 2\d\d/);
    },
    { intervalMs: 500 },
  );
});

test('support accepts a transfer that may be for two payments only after stating which one it is for', async () => {
  const other = await Shop.open(stack);
  const { either, twins } = await payEither(other);
  const { page } = await browser.visit({ device: 'desktop', expected, javaScriptEnabled: false });
  await signIn(page, stack, await operatorCalled(stack, 'sara', 'support'));
  await page.goto(`${stack.file.console_url}/payments?q=${either.transaction_id}`);
  const links = page.locator('td', { hasText: 'May be for 2 payments' }).locator('a');
  const named = await Promise.all((await links.all()).map((one) => one.getAttribute('href')));
  expect(named).toEqual(expect.arrayContaining(twins.map((id) => `/payments/${id}`)));
  await page.getByRole('link', { name: 'Choose the payment' }).click();
  const rows = page.locator('tbody tr');
  expect(await rows.count()).toBe(2);
  await rows
    .filter({ has: page.locator(`a[href="/payments/${twins[0]}"]`) })
    .getByRole('link', { name: 'Accept', exact: true })
    .click();
  const asked = page.url();
  const why = page.getByLabel('Why, for the audit');
  await why.fill('the customer sent its id');
  await page.getByRole('button', { name: 'Accept' }).click();
  // The browser itself does not submit the form until the box is ticked.
  expect([page.url(), await page.getByRole('heading', { level: 1 }).innerText()]).toEqual([asked, 'Accept a transfer']);
  // Refused until the transfer's block is final.
  await eventually(
    async () => {
      await page.goto(asked);
      await page.getByRole('checkbox').check();
      await why.fill('the customer sent its id');
      await page.getByRole('button', { name: 'Accept' }).click();
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(`Payment ${twins[0]}`);
    },
    { intervalMs: 1_100 },
  );
  expect(await other.details(twins[0])).toMatchObject({ status: 'PAID', transaction: { amount: '5.5' } });
  expect(await other.details(twins[1])).toMatchObject({ status: 'PENDING', unmatched_transfers: [] });
});

test('a viewer sees the same and cannot change anything, whatever URL is opened', async () => {
  const { page } = await browser.visit({ device: 'desktop', expected });
  await signIn(page, stack, await operatorCalled(stack, 'vera', 'viewer'));
  const { merchant, underpaid, waiting, lost } = data;
  for (const path of [`/payments/${underpaid}`, `/payments/${waiting}`, `/merchants/${merchant}`, '/transfers']) {
    await page.goto(`${stack.file.console_url}${path}`);
    expect([path, await page.locator('main form[method=post], main a[href$="/accept"]').count()]).toEqual([path, 0]);
    expect([path, await page.locator('.actions').count()]).toEqual([path, 0]);
  }
  const accept = acceptPath(underpaid, lost);
  for (const path of [accept, `/payments/${waiting}/cancel`, `/merchants/${merchant}/pause`]) {
    await page.goto(`${stack.file.console_url}${path}`);
    await page.getByLabel('Why, for the audit').fill('I would like to');
    await page.locator('main form button').click();
    expect([path, await page.locator('main').innerText()]).toEqual([
      path,
      expect.stringContaining('needs the role support'),
    ]);
  }
  expect((await shop.details(underpaid)).status).not.toBe('PAID');
  expect((await shop.details(waiting)).status).toBe('PENDING');
  expect((await shop.limits()).creation_enabled).toBe(true);
});

test("a merchant's person exports a month, and its sums equal those of the report and of the database", async () => {
  const other = await Shop.open(stack);
  const month = await fillMonth(stack.file, other.merchantId);
  const { payment_id: paid } = await other.createOrThrow('0.1');
  await other.pay('0.1');
  await eventually(async () => expect((await other.details(paid)).status).toBe('PAID'), {
    ...{ intervalMs: 1_100 },
  });
  const { page } = await browser.visit({ device: 'desktop', expected, javaScriptEnabled: false });
  const { linkPath } = await merchantPersonCalled(stack, other.merchantId, 'clara');
  await page.goto(`${stack.file.console_url}${linkPath}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Report' }).click();
  await page.getByLabel('From, UTC').first().fill(month.from);
  await page.getByLabel('To, that day included').first().fill(month.to);
  await page.getByLabel('By').selectOption('month');
  await page.getByRole('button', { name: 'Show' }).click();
  const reported = await sumsOnPage(page);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  const lines = await linesOf(download);
  expect(download.suggestedFilename()).toBe(`payments-${month.from}-${month.to}.csv`);
  expect(lines.length).toBeGreaterThan(60);
  expect(lines.filter(({ description }) => description === DESCRIPTION)).toHaveLength(lines.length - 1);
  expect(lines.at(-1)).toMatchObject({ payment_id: paid, status: 'PAID', transaction_amount: '0.1' });
  const exported = sumsOfLines(lines);
  expect(exported).toEqual(reported);
  expect(exported).toEqual(await sumsInDatabase(stack.file, other.merchantId, month));
});

test.each([
  ['operator', '/payments'],
  ['merchant', '/my/payments'],
] as const)('the %s downloads the proof of a payment, which the hash of its block proves', async (visitor, path) => {
  const { page } = await browser.visit({ device: 'desktop', expected, javaScriptEnabled: false });
  await signIn(page, stack, credentials[visitor]);
  await page.goto(`${stack.file.console_url}${path}/${data.paid}`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download proof of payment' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`proof-of-payment-${referenceOf(data.paid)}.json`);
  const proof = JSON.parse(await readFile(await download.path(), 'utf8')) as PaymentProof;
  expect(proof.payment).toMatchObject({ payment_id: data.paid, amount: '10.50' });
  const { rpc_url: url, token: address, decimals, chain_id: chainId } = stack.file.chain;
  const height = `0x${proof.block.number.toString(16)}`;
  const { hash: blockHash } = await rpc<{ hash: string }>(url, 'eth_getBlockByNumber', [height, false]);
  const { receivedUnits } = verifyProof(proof, { blockHash, token: { chainId, address, decimals } });
  expect(receivedUnits).toBe(10_500_000n);
});

test("a merchant's person sees nothing at operators' URLs, and gets 404 for another merchant's payment", async () => {
  const other = await Shop.open(stack);
  const { page } = await browser.visit({ device: 'desktop', expected, javaScriptEnabled: false });
  await signIn(page, stack, (await merchantPersonCalled(stack, other.merchantId, 'nina')).credential);
  const foreign = [data.merchant, data.wallet, data.paid, data.underpaid, data.lost.transaction_id, data.failedEvent];
  const seen = async (path: string) => {
    const status = (await page.goto(`${stack.file.console_url}${path}`))?.status();
    const source = await page.content();
    expect([path, foreign.filter((id) => source.includes(id))]).toEqual([path, []]);
    return [status, new URL(page.url()).pathname, await page.locator('body').innerText()];
  };
  expect(await seen('/')).toEqual([200, '/my', expect.stringContaining('@nina, viewer')]);
  const [, , nothing] = await seen(`/merchants/${newId('mer')}`);
  expect(nothing).toContain('Not found');
  const own = `/merchants/${other.merchantId}`;
  for (const path of [own, ...Object.values(consolePages).map((pathOf) => pathOf(data))].filter((path) => path !== '/'))
    expect([path, await seen(path)]).toEqual([path, [404, path.split('?')[0], nothing]]);
  const [status, , unknown] = await seen(`/my/payments/${newId('pay')}`);
  expect([status, unknown]).toEqual([404, expect.stringContaining('Payment not found')]);
  for (const id of [data.paid, data.underpaid, data.waiting])
    expect(await seen(`/my/payments/${id}`)).toEqual([404, `/my/payments/${id}`, unknown]);
});

test("a merchant's person sends a test event, and everyone can read the result", async () => {
  const page = await signedIn('merchant', 'smallPhone');
  await eventually(
    async () => {
      await page.goto(`${stack.file.console_url}/my/webhooks`);
      await page.getByRole('button', { name: 'Send a test event' }).click();
      expect(await page.getByRole('status').locator('.badge').innerText()).toBe('delivered');
    },
    { intervalMs: 7_000 },
  );
  expect([await accessibilityProblems(page), await layoutProblems(page)]).toEqual([[], []]);
});
