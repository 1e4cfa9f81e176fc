import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newPublicToken } from '@quittance/contracts/ids.ts';
import { checkoutLookupOutcomes } from '@quittance/contracts/api/checkout.ts';
import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import type { Page } from 'playwright-core';
import { journeyStack } from '../support/journey-stack.ts';
import { Shop } from '../support/shop.ts';
import { openBrowser, type VisitOptions } from './support/browser.ts';
import { checkout, everyPage, EVM_WALLET } from './support/checkouts.ts';
import { languageCodes } from './support/language-codes.ts';
import {
  expectedOfConsole,
  fillConsole,
  operatorCalled,
  ownerCalled,
  ownerPages,
  pagesOf,
  signIn,
  welcomeVisitors,
} from './support/console-pages.ts';
import { contactSheet } from './support/contact-sheet.ts';
import { hostileDescriptions } from './support/hostile-descriptions.ts';
import { openAll } from './support/look.ts';
import { addPasskey, giveDevice } from './support/passkeys.ts';
import { openStage, type Stage } from './support/stage.ts';
import { evmWallet } from './support/wallets/simulated.ts';
import { giveWallets, type TestWallet } from './support/wallets/wallet.ts';

type Shot = { name: string; url: string; options: VisitOptions; wallets?: TestWallet[] };

/**
 * Takes pictures of the checkout page in all its states, of the same in every language on a phone, and of every page of the console, for
 * people to look at. Nothing is compared. `npm run screenshots -- languages` takes only some of them; so do `-- checkout` and `-- console`.
 */
const directory = join(stackDirectory().root, 'screenshots');
const [only] = process.argv.slice(2);
const browser = await openBrowser({ forReading: true });
try {
  await mkdir(directory, { recursive: true });
  for (const [name, takeAll] of Object.entries({
    checkout: takeCheckout,
    languages: takeLanguages,
    console: takeConsole,
  }))
    if (only === undefined || only === name) await takeAll();
  await browser.leaveAll();
} finally {
  await browser.close();
}

async function takeCheckout(): Promise<void> {
  const folder = await emptied(directory, 'checkout');
  const stage = await openStage();
  try {
    const shots = shotsOf(stage, await stage.shopCalled('Kaffeehaus Müller'));
    for (const shot of shots) await take(folder, shot);
    stage.payments.fail(true);
    const failed = everyLook('503', stage.show(checkout('waiting')));
    for (const shot of failed) await take(folder, shot);
    await writeSheet(
      folder,
      'The checkout page',
      [...shots, ...failed].map(({ name }) => name),
    );
  } finally {
    await stage.close();
  }
}

/** One sheet for each language. Everything that a reader can open is open. */
async function takeLanguages(): Promise<void> {
  const folder = await emptied(directory, 'languages');
  const stage = await openStage();
  try {
    const shop = { merchant_id: await stage.shopCalled('Kaffeehaus Müller'), return_url: 'https://shop.example/' };
    const page = await browser.look({ deviceScaleFactor: 2 });
    const { width, height } = page.viewportSize()!;
    for (const code of languageCodes) {
      const names: string[] = [];
      for (const [name, state, changes] of everyPage) {
        await page.setViewportSize({ width, height });
        await page.goto(`${stage.show(checkout(state, { ...shop, ...changes }))}?lang=${code}`);
        await openAll(page);
        await stretch(page);
        await page.screenshot({ path: join(folder, `${code}-${name}.png`) });
        names.push(`${code}-${name}`);
      }
      await writeSheet(folder, code, names, `${code}.html`);
    }
  } finally {
    await stage.close();
  }
}

/** On a complete stack, with one of each object. */
async function takeConsole(): Promise<void> {
  const folder = await emptied(directory, 'console');
  const stack = await journeyStack();
  try {
    const data = await fillConsole(stack, await Shop.open(stack));
    const credentials = await welcomeVisitors(stack, data);
    const names: string[] = [];
    for (const device of ['smallPhone', 'phone', 'desktop'] as const) {
      const look = { device, deviceScaleFactor: 1, expected: expectedOfConsole };
      const { page: stranger } = await browser.visit(look);
      await stranger.goto(`${stack.file.console_url}/sign-in`);
      await shoot(stranger, folder, `sign-in-${device}`, names);
      // A passkey is kept by one device, so each has people of its own.
      const own = device.toLowerCase();
      const { page: merchant } = await browser.visit(look);
      await signIn(merchant, stack, credentials.merchant);
      const { page: operator } = await browser.visit(look);
      await giveDevice(operator);
      await signIn(operator, stack, await operatorCalled(stack, `ada-${own}`, 'admin'));
      await addPasskey(operator, stack.file.console_url, 'My phone');
      const { page: owner } = await browser.visit(look);
      await giveDevice(owner);
      await owner.goto(`${stack.file.console_url}${await ownerCalled(stack, data.merchant, `olive-${own}`)}`);
      await owner.getByRole('button', { name: 'Sign in' }).click();
      await addPasskey(owner, stack.file.console_url, 'My phone');
      const shots = [
        ...Object.entries(pagesOf.merchant).map(([name, pathOf]) => ({ page: merchant, name, path: pathOf(data) })),
        ...Object.entries(pagesOf.operator).map(([name, pathOf]) => ({ page: operator, name, path: pathOf(data) })),
        ...ownerPages.map((path) => ({ page: owner, name: `owner${path.replaceAll('/', '-')}`, path })),
      ];
      for (const { page, name, path } of shots) {
        await page.goto(`${stack.file.console_url}${path}`);
        await shoot(page, folder, `${name}-${device}`, names);
      }
    }
    await writeSheet(folder, 'The console', names);
  } finally {
    await stack.close();
  }
}

/** In light and dark mode. */
async function shoot(page: Page, folder: string, name: string, names: string[]): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), fullPage: true, animations: 'disabled' });
    names.push(`${name}-${colorScheme}`);
  }
}

async function emptied(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  return folder;
}

async function writeSheet(folder: string, title: string, names: readonly string[], file = 'index.html'): Promise<void> {
  const sheet = join(folder, file);
  await writeFile(sheet, contactSheet(title, names));
  console.log(`${names.length} pictures: ${sheet}`);
}

async function take(folder: string, { name, url, options, wallets = [] }: Shot): Promise<void> {
  const { page, context } = await browser.visit({
    expected: /status of (404|503)/,
    reducedMotion: 'no-preference',
    ...options,
  });
  if (wallets.length > 0) await giveWallets(context, wallets);
  await page.goto(url);
  if (name.includes('switch')) await page.locator('footer summary').click();
  if (name.includes('not-mine')) await page.locator('main details summary').first().click();
  await stretch(page);
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
  await context.close();
}

/** A picture of the full page forgets that a phone has no mouse, and shows what a desktop shows. */
async function stretch(page: Page): Promise<void> {
  const { width = 0 } = page.viewportSize() ?? {};
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  await page.setViewportSize({ width, height });
}

function shotsOf({ show, origin }: Stage, merchant_id: string): Shot[] {
  const shop = { merchant_id, return_url: 'https://shop.example/orders/4711' };
  const waiting = show(checkout('waiting', shop));
  const evm = show(
    checkout('waiting', { ...shop, network: 'ethereum', merchant_wallet: EVM_WALLET, amount: '49.9037' }),
  );
  const lookup = { transaction_id: '4a'.repeat(32), amount: null, network: null };
  const phone = (name: string, url: string, options: VisitOptions = {}): Shot => ({ name, url, options });
  return [
    ...everyPage.flatMap(([name, state, changes]) => everyLook(name, show(checkout(state, { ...shop, ...changes })))),
    ...everyLook('404', `${origin}/pay/${newPublicToken()}`),
    phone('seen-final-soon', show(checkout('seen', { confirmations: { seen: 19, required: 19 } }))),
    phone('waiting-ethereum', evm),
    phone('waiting-wallet-link', `${evm}?qr=link`),
    phone('arrived-not-mine', show(checkout('arrived', { amount: '1249.5037' }))),
    ...checkoutLookupOutcomes.map((outcome) => {
      const amount = outcome === 'other_amount' ? '48.90' : null;
      const network = outcome === 'other_network' ? 'ethereum' : null;
      return phone(
        `look-up-${outcome}`,
        show(checkout('waiting', { lookup: { ...lookup, outcome, amount, network } })),
      );
    }),
    ...everyLook('waiting-wallets', evm).map((shot) => ({
      ...shot,
      wallets: [evmWallet({}, {}, 'A wallet'), evmWallet({}, {}, 'Another wallet')],
    })),
    phone('waiting-small-phone', waiting, { device: 'smallPhone' }),
    phone('waiting-language-switch', waiting),
    phone('waiting-without-script', waiting, { javaScriptEnabled: false }),
    phone('waiting-reduced-motion', waiting, { reducedMotion: 'reduce' }),
    phone('waiting-forced-colors', waiting, { forcedColors: 'active' }),
    ...Object.entries(hostileDescriptions).map(([name, description]) =>
      phone(`description-${name}`, show(checkout('waiting', { description }))),
    ),
  ];
}

function everyLook(name: string, url: string): Shot[] {
  return (['phone', 'desktop'] as const).flatMap((device) =>
    (['light', 'dark'] as const).map((colorScheme) => ({
      name: `${name}-${device}-${colorScheme}`,
      url,
      options: { device, colorScheme },
    })),
  );
}
