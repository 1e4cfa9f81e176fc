import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newPublicToken } from '@quittance/contracts/ids.ts';
import { checkoutLookupOutcomes } from '@quittance/contracts/payment.ts';
import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { openBrowser, type VisitOptions } from './support/browser.ts';
import { checkout, EVM_WALLET, states } from './support/checkouts.ts';
import { contactSheet } from './support/contact-sheet.ts';
import { hostileDescriptions } from './support/hostile-descriptions.ts';
import { openStage, type Stage } from './support/stage.ts';

type Shot = { name: string; url: string; options: VisitOptions };

/** Pictures of the checkout page as it is now, in all its states, for people to look at. Nothing is compared. */
const directory = join(stackDirectory().root, 'screenshots');
const stage = await openStage();
const browser = await openBrowser({ forReading: true });
try {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const shots = shotsOf(stage, await stage.shopCalled('Kaffeehaus Müller'));
  for (const shot of shots) await take(shot);
  stage.payments.fail(true);
  const failed = everyLook('503', stage.show(checkout('waiting')));
  for (const shot of failed) await take(shot);
  const sheet = join(directory, 'index.html');
  await writeFile(sheet, contactSheet([...shots, ...failed].map(({ name }) => name)));
  console.log(`${shots.length + failed.length} pictures of the checkout page: ${sheet}`);
  await browser.leaveAll();
} finally {
  await browser.close();
  await stage.close();
}

async function take({ name, url, options }: Shot): Promise<void> {
  const { page, context } = await browser.visit({
    expected: /status of (404|503)/,
    reducedMotion: 'no-preference',
    ...options,
  });
  await page.goto(url);
  if (name.includes('switch')) await page.locator('footer summary').click();
  if (name.includes('not-mine')) await page.locator('main details summary').first().click();
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true, animations: 'disabled' });
  await context.close();
}

function shotsOf({ show, origin }: Stage, merchant_id: string): Shot[] {
  const shop = { merchant_id, return_url: 'https://shop.example/orders/4711' };
  const waiting = show(checkout('waiting', shop));
  const evm = show(
    checkout('waiting', { ...shop, network: 'ethereum', merchant_wallet: EVM_WALLET, amount: '49.9037' }),
  );
  const lookup = { transaction_id: '4a'.repeat(32), amount: null, network: null };
  const languages = ['ar', 'fa', 'hi', 'zh', 'de', 'ru', 'vi'];
  const phone = (name: string, url: string, options: VisitOptions = {}): Shot => ({ name, url, options });
  return [
    ...states.flatMap((state) => everyLook(state, show(checkout(state, shop)))),
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
    phone('waiting-small-phone', waiting, { device: 'smallPhone' }),
    phone('waiting-language-switch', waiting),
    phone('waiting-without-script', waiting, { javaScriptEnabled: false }),
    phone('waiting-reduced-motion', waiting, { reducedMotion: 'reduce' }),
    phone('waiting-forced-colors', waiting, { forcedColors: 'active' }),
    ...languages.flatMap((language) => [
      phone(`${language}-waiting`, `${waiting}?lang=${language}`),
      phone(`${language}-seen`, `${show(checkout('seen'))}?lang=${language}`),
      phone(`${language}-paid`, `${show(checkout('paid', shop))}?lang=${language}`),
      phone(
        `${language}-look-up`,
        `${show(checkout('expired', { lookup: { ...lookup, outcome: 'too_late', amount: '49.90' } }))}?lang=${language}`,
      ),
    ]),
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
