import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { signInLinkPath } from '@quittance/contracts/http/api-gateway/people.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Page } from 'playwright-core';
import { startMailServer } from '../../packages/notifier/test/stand-ins.ts';
import { withDatabase } from '../support/database.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { asOperator } from '../support/operator.ts';
import { Shop } from '../support/shop.ts';
import { openBrowser, type TestBrowser, type Visit } from './support/browser.ts';
import { expectedOfConsole as expected } from './support/console-pages.ts';
import { accessibilityProblems, layoutProblems } from './support/look.ts';
import { giveDevice } from './support/passkeys.ts';

/*
 * An owner without a developer runs a shop with a mouse: from the invitation to a payment that is paid, which an e-mail
 * tells, an underpaid one accepted, a failed event sent again, a rotated key and the month as a file.
 */

let mail: Awaited<ReturnType<typeof startMailServer>>;
let stack: JourneyStack;
let browser: TestBrowser;
let shop: Shop;
let owner: Visit;
let takeDevice: () => Promise<void>;

beforeAll(async () => {
  mail = await startMailServer();
  const settings = { SMTP_URL: mail.url };
  [stack, browser] = await Promise.all([journeyStack({ sharesBroker: true, settings }), openBrowser()]);
  shop = await Shop.withoutWebhook(stack);
  owner = await browser.visit({ device: 'desktop', expected });
  takeDevice = await giveDevice(owner.page);
  // Chromium is downloaded when it is used for the first time.
}, 300_000);
afterEach(() => expect(owner.complaints).toEqual([]));
afterAll(async () => {
  await browser.close();
  await stack.close();
  await mail.close();
});

const at = (path: string): string => `${stack.file.console_url}${path}`;
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const heading = (page: Page) => page.getByRole('heading', { level: 1 }).innerText();

/** The page that asks for the passkey, and its answer. */
async function confirm(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Confirm with your passkey' }).waitFor();
  await press(page, 'Use your passkey');
  await page.getByRole('heading', { name: 'Confirm with your passkey' }).waitFor({ state: 'detached' });
}

/** Waits for the e-mail with this subject. @returns its text, in which long lines are no longer folded. */
const told = (subject: string): Promise<string> =>
  eventually(() => {
    const texts = mail.mails.map(({ raw }) => raw.replaceAll('=\r\n', '').replaceAll('\r\n', '\n'));
    const found = texts.find((text) => text.includes(`Subject: ${subject}\n`));
    if (found === undefined) throw new Error(`no e-mail has the subject "${subject}":\n${texts.join('\n')}`);
    return found;
  });

/** Opens the link of an e-mail. */
async function follow(page: Page, text: string): Promise<void> {
  const [link = 'no link'] = /http:\S+/.exec(text) ?? [];
  await page.goto(link);
}

test('an invitation ends with a passkey', async () => {
  const { page } = owner;
  const path = `/merchants/${shop.merchantId}/logins`;
  const invited = await asOperator<{ link: string }>(stack.file, 'POST', path, { name: 'olive', role: 'owner' });
  await page.goto(at(signInLinkPath(invited.link)));
  await press(page, 'Sign in');
  await page.getByLabel('Name of your first passkey').fill('My phone');
  await press(page, 'Add a passkey');
  await press(page, 'Create the passkey');
  await page.getByText('My phone', { exact: true }).waitFor();
  await page.goto(at('/'));
  expect(await heading(page)).toBe('Start');
  expect(await page.getByRole('link', { name: 'Team' }).count()).toBeGreaterThan(0);
});

test('the owner chooses to be told by e-mail, with a passkey', async () => {
  const { page } = owner;
  await page.goto(at('/my/notices'));
  await page.getByLabel('E-mail addresses').fill('olive@shop.example');
  await press(page, 'Use notices');
  await confirm(page);
  await press(page, 'Send a test notice');
  await page.getByText('E-mail: sent').waitFor();
  expect(mail.mails.map(({ to }) => to)).toEqual([['olive@shop.example']]);
});

test('a payment by hand becomes PAID on the page, without a reload by the person, and is told by e-mail', async () => {
  const { page } = owner;
  await page.goto(at('/my/new-payment'));
  await page.getByLabel('Amount', { exact: true }).fill('12,34');
  await page.getByLabel('What it is for').fill('A table for two');
  await page.getByLabel('Wallet', { exact: true }).fill(shop.wallet);
  await press(page, 'Create the payment');
  await page.getByText('Send this to your customer').waitFor();
  expect(await page.getByRole('link', { name: 'Write an e-mail' }).getAttribute('href')).toContain('mailto:');
  await shop.pay('12.34');
  await page.locator('.hero').getByText('PAID').waitFor({ timeout: 120_000 });
  const text = await told('Paid: 12.34 USDT');
  expect(text).toContain('A table for two');
  const paid = page.url();
  await page.goto(at('/'));
  await follow(page, text);
  expect(page.url()).toBe(paid);
  await page.locator('.hero').getByText('PAID').waitFor();
}, 180_000);

test('an underpaid payment is told by e-mail, and accepted with a passkey', async () => {
  const { page } = owner;
  const payment = await shop.createOrThrow('49.98');
  await shop.pay('48.97');
  await eventually(async () => expect((await shop.details(payment.payment_id)).unmatched_transfers.length).toBe(1), {
    intervalMs: 1_100,
  });
  await follow(page, await told('48.97 USDT arrived, but it pays nothing'));
  expect(page.url()).toBe(at(`/my/payments/${payment.payment_id}`));
  await press(page, 'Accept it');
  await confirm(page);
  await page.locator('.hero').getByText('PAID').waitFor();
  expect(await told('Paid: 48.97 USDT')).toContain(page.url());
  const audit = await asOperator<{ entries: { action: string; actor: string }[] }>(
    stack.file,
    'GET',
    `/merchants/${shop.merchantId}/audit`,
  );
  expect(audit.entries.map(({ actor, action }) => `${actor} ${action}`)).toContain('@merchant/olive accept_transfer');
}, 120_000);

test('an event that failed is sent again', async () => {
  const { page } = owner;
  const event = await eventually(
    async () => {
      const { rows } = await withDatabase(stack.file.postgres_url, (db) =>
        db.query<{ event_id: string }>(
          `update webhooks.delivery set status = 'failed', error_category = 'http_5xx', delivered_at = null
           where merchant_id = $1 and status = 'delivered' returning event_id`,
          [shop.merchantId],
        ),
      );
      expect(rows.length).toBeGreaterThan(0);
      return rows[0]!.event_id;
    },
    { intervalMs: 500 },
  );
  await page.goto(at('/my/webhooks'));
  const card = page.locator('.card', { hasText: event });
  await card.getByRole('button', { name: 'Send it again' }).click();
  await eventually(async () =>
    withDatabase(stack.file.postgres_url, async (db) => {
      const { rows } = await db.query('select status from webhooks.delivery where event_id = $1', [event]);
      expect(rows).toEqual([{ status: 'delivered' }]);
    }),
  );
});

test('the signing key is replaced and shown once, and the month is exported', async () => {
  const { page } = owner;
  await page.goto(at('/my/webhooks'));
  await press(page, 'Replace the signing key');
  await confirm(page);
  expect(
    await page
      .getByText(/whsec_/)
      .first()
      .innerText(),
  ).toMatch(/whsec_/);
  await page.goto(at('/my/report'));
  const [file] = await Promise.all([page.waitForEvent('download'), press(page, 'Download')]);
  expect(file.suggestedFilename()).toMatch(/\.csv$/);
});

const pages = [
  ...['/my', '/my/payments', '/my/new-payment', '/my/transfers', '/my/report', '/my/wallets', '/my/wallets/pool'],
  ...['/my/wallets/proof', '/my/wallets/rest', '/my/webhooks', '/my/webhooks/endpoint', '/my/notices', '/my/profile'],
  ...['/my/keys', '/my/team', '/my/limits', '/account'],
];

test.each(pages)('%s is accessible and fits, in light and dark mode, on a desktop and a phone', async (path) => {
  const { page } = owner;
  for (const [width, height] of [
    [1280, 800],
    [360, 740],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto(at(path));
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([path, width, colorScheme, await accessibilityProblems(page)]).toEqual([path, width, colorScheme, []]);
    }
    expect([path, width, await layoutProblems(page)]).toEqual([path, width, []]);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light' });
});

test('a stolen session, without the device, changes nothing', async () => {
  const { page } = owner;
  await takeDevice();
  await giveDevice(page);
  await page.goto(at('/my/keys'));
  await page.getByLabel('What uses it').fill('evil');
  await press(page, 'Add the key');
  await page.getByRole('heading', { name: 'Confirm with your passkey' }).waitFor();
  await press(page, 'Use your passkey');
  await page.getByText('That did not work').waitFor();
  await page.goto(at('/my/keys'));
  expect(await page.getByText('evil').count()).toBe(0);
});
