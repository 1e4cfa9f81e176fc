import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newPublicToken } from '@quittance/contracts/ids.ts';
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
  const shots = shotsOf(stage);
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
  const { page, context } = await browser.visit({ expected: /status of (404|503)/, ...options });
  await page.goto(url);
  if (name.includes('switch')) await page.locator('footer summary').click();
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true, animations: 'disabled' });
  await context.close();
}

function shotsOf({ show, origin }: Stage): Shot[] {
  const waiting = show(checkout('waiting'));
  const evm = show(checkout('waiting', { network: 'ethereum', merchant_wallet: EVM_WALLET, amount: '0.000001' }));
  const languages = ['ar', 'fa', 'hi', 'zh', 'de', 'ru', 'vi'];
  const phone = (name: string, url: string, options: VisitOptions = {}): Shot => ({ name, url, options });
  return [
    ...states.flatMap((state) => everyLook(state, show(checkout(state)))),
    ...everyLook('404', `${origin}/pay/${newPublicToken()}`),
    phone('seen-final-soon', show(checkout('seen', { confirmations: { seen: 19, required: 19 } }))),
    phone('waiting-ethereum', evm),
    phone('waiting-wallet-link', `${evm}?qr=link`),
    phone('waiting-small-phone', waiting, { device: 'smallPhone' }),
    phone('waiting-language-switch', waiting),
    phone('waiting-without-script', waiting, { javaScriptEnabled: false }),
    phone('waiting-reduced-motion', waiting, { reducedMotion: 'reduce' }),
    phone('waiting-forced-colors', waiting, { forcedColors: 'active' }),
    ...languages.flatMap((language) => [
      phone(`${language}-waiting`, `${waiting}?lang=${language}`),
      phone(`${language}-seen`, `${show(checkout('seen'))}?lang=${language}`),
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
