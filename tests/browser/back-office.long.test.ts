import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { Wallet } from 'ethers';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { startMailServer } from '../../packages/notifier/test/stand-ins.ts';
import { withDatabase } from '../support/database.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { asOperator } from '../support/operator.ts';
import { Shop } from '../support/shop.ts';
import { openBrowser, type TestBrowser, type Visit } from './support/browser.ts';
import {
  expectedOfConsole as expected,
  operatorCalled,
  orderOf,
  loseMoney,
  acceptPath,
  ownerCalled,
  ownerPages,
  payEither,
  signIn,
} from './support/console-pages.ts';
import { accessibilityProblems, layoutProblems } from './support/look.ts';
import { addPasskey, giveDevice } from './support/passkeys.ts';

/*
 * An owner without a developer runs a shop with a mouse: from the invitation to a payment that is paid, which an e-mail
 * tells, an underpaid one accepted, a failed event sent again, a rotated key and the month as a file. Operators confirm
 * with their own passkeys.
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

/** In light and dark mode, on a desktop and a phone. */
async function expectGoodLook(page: Page): Promise<void> {
  const path = new URL(page.url()).pathname;
  for (const [width, height] of [
    [360, 740],
    [1280, 800],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([path, width, colorScheme, await accessibilityProblems(page)]).toEqual([path, width, colorScheme, []]);
    }
    expect([path, width, await layoutProblems(page)]).toEqual([path, width, []]);
  }
}

test('an invitation ends with a passkey', async () => {
  const { page } = owner;
  await page.goto(at(await ownerCalled(stack, shop.merchantId, 'olive')));
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
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await layoutProblems(page)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
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

test('a transfer that may be for two payments is accepted for the one that is chosen among both', async () => {
  const { page } = owner;
  const { either, twins } = await payEither(shop);
  await page.goto(at('/my/transfers'));
  const row = page.locator('tbody tr', { has: page.locator(`[data-copy="${either.transaction_id}"]`) });
  await row.getByRole('link', { name: 'Choose the payment' }).click();
  expect(await page.locator('main').innerText()).toContain('This transfer may be for 2 payments');
  const choices = page.getByRole('radio');
  expect(await Promise.all((await choices.all()).map((one) => one.getAttribute('value')))).toEqual(
    expect.arrayContaining(twins),
  );
  await expectGoodLook(page);
  const asked = page.url();
  await press(page, 'Accept it for this payment');
  // The browser itself does not send the form until a payment is chosen.
  expect([page.url(), await heading(page)]).toEqual([asked, 'Accept a transfer']);
  // Refused until the transfer's block is final.
  await eventually(
    async () => {
      await page.goto(asked);
      await page.locator(`[value="${twins[1]}"]`).check();
      await press(page, 'Accept it for this payment');
      await confirm(page);
      expect(page.url()).toBe(at(`/my/payments/${twins[1]}`));
    },
    { intervalMs: 1_100 },
  );
  await page.locator('.hero').getByText('PAID').waitFor();
  expect(await shop.details(twins[1])).toMatchObject({ status: 'PAID', transaction: { amount: '5.5' } });
  expect((await shop.details(twins[0])).status).toBe('PENDING');
}, 120_000);

test('a wallet is proven by its signature, and a wrong one is asked for again', async () => {
  const { page } = owner;
  const [wallet, stranger] = [Wallet.createRandom(), Wallet.createRandom()];
  await page.goto(at('/my/wallets'));
  await page.getByRole('link', { name: 'Prove that a wallet is yours' }).click();
  await page.getByLabel('Address').fill(wallet.address);
  await press(page, 'Show the text to sign');
  const prove = async (signer: typeof wallet) => {
    const text = (await page.locator('main pre').getAttribute('data-copy')) ?? '';
    expect(text).toContain(wallet.address);
    await page.getByLabel('Signature').fill(await signer.signMessage(text));
    await press(page, 'Prove it');
    await confirm(page);
  };
  await prove(stranger);
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').innerText()).toMatch(/signature/i);
  await prove(wallet);
  const row = page.locator('tbody tr', { has: page.locator(`[data-copy="${wallet.address}"]`) });
  expect(await row.innerText()).toMatch(/(?<!not )proven/);
});

test('a logo that cannot be used is refused in words and loses nothing; a good one is on the payment page', async () => {
  const { page } = owner;
  const name = 'Café Olive';
  const logo = page.getByLabel('Logo', { exact: true });
  const choose = (file: string, buffer: Buffer) => logo.setInputFiles({ name: file, mimeType: 'image/png', buffer });
  await page.goto(at('/my/profile'));
  await page.getByLabel('Name of your shop').fill(name);
  await choose('poster.png', Buffer.alloc(200 * 1024));
  expect(await logo.evaluate((input) => (input as unknown as { validationMessage: string }).validationMessage)).toBe(
    'This file has 200 KiB; at most 32 KiB can be sent.',
  );
  await press(page, 'Save');
  expect([await heading(page), await page.getByRole('status').count()]).toEqual(['Profile', 0]);
  await choose('photo.png', Buffer.from('GIF89a, which is no PNG'));
  await press(page, 'Save');
  expect(await page.getByRole('alert').innerText()).toMatch(/logo.*PNG/i);
  expect(await page.getByLabel('Name of your shop').inputValue()).toBe(name);
  await choose('logo.png', PNG.sync.write(new PNG({ width: 64, height: 64 })));
  await press(page, 'Save');
  await page.getByRole('status').getByText('Saved').waitFor();
  const { payment_url: url } = await shop.createOrThrow('7.25');
  await page.goto(url);
  const shown = page.locator('img.logo');
  await shown.waitFor();
  expect(await shown.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBe(64);
  expect(await page.locator('body').innerText()).toContain(name);
});

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

test.each(ownerPages)('%s is accessible and fits, in light and dark mode, on a desktop and a phone', async (path) => {
  await owner.page.goto(at(path));
  await expectGoodLook(owner.page);
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

describe('an operator', () => {
  /** Signed in with the credential, on a device without passkeys at first. */
  async function operator(name: string): Promise<Page> {
    const { page } = await browser.visit({ device: 'desktop', expected });
    await giveDevice(page);
    await signIn(page, stack, await operatorCalled(stack, name, 'support'));
    return page;
  }

  async function accept(page: Page, path: string): Promise<void> {
    await page.goto(at(path));
    await page.getByLabel('Why, for the audit').fill('the customer called');
    await press(page, 'Accept a transfer');
  }

  test('accepts a transfer only with the own passkey: not without one, not with that of another person', async () => {
    const { payment_id: id } = await orderOf(shop, 'order 4713');
    const lost = await loseMoney(shop, id, '48.90');
    const path = acceptPath(id, lost);
    const [sam, tess] = [await operator('sam'), await operator('tess')];
    // Without a passkey an operator only looks.
    expect(await sam.getByText('You can only look until you').count()).toBe(1);
    await accept(sam, path);
    expect(await sam.locator('main').innerText()).toContain('needs the role support');
    for (const page of [sam, tess]) await addPasskey(page, stack.file.console_url, 'Key');
    const { allowCredentials: ofTess } = await askedOf(tess, path);
    // The thief of a session may change the page, but has only the own passkey.
    const { challenge } = await askedOf(sam, path);
    const signed = await tess.evaluate<string>(signing({ challenge, allowCredentials: ofTess }));
    await sam.locator('form[data-passkey] input[name=passkey]').evaluate((input, answer) => {
      (input as unknown as { value: string }).value = answer;
    }, signed);
    await sam.locator('form[data-passkey]').evaluate((form) => (form as unknown as { submit(): void }).submit());
    await sam.getByText('This passkey was not accepted').waitFor();
    expect((await shop.details(id)).status).toBe('PENDING');
    await eventually(
      async () => {
        await accept(sam, path);
        await confirm(sam);
        expect(sam.url()).toBe(at(`/payments/${id}`));
      },
      { intervalMs: 1_100 },
    );
    await sam.locator('.hero').getByText('PAID').waitFor();
    expect(await sam.locator('.story').innerText()).toContain('by @sam: the customer called');
  }, 120_000);

  type Asked = { challenge: string; allowCredentials: object[] };

  /** What the page asks a passkey for, when a transfer is accepted. */
  async function askedOf(page: Page, path: string): Promise<Asked> {
    await accept(page, path);
    await page.getByRole('heading', { name: 'Confirm with your passkey' }).waitFor();
    const options = await page.locator('form[data-passkey]').getAttribute('data-options');
    return JSON.parse(options ?? '') as Asked;
  }

  const signing = (asked: Asked): string => `navigator.credentials
    .get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify({ ...asked, rpId: 'localhost', userVerification: 'required' })}) })
    .then((credential) => JSON.stringify(credential.toJSON()))`;
});
