import { expect, test } from '@jest/globals';
import { newPublicToken } from '@quittance/contracts/ids.ts';
import type { Page } from 'playwright-core';
import { checkout, everyPage, EVM_WALLET, states } from './support/checkouts.ts';
import { languageCodes } from './support/language-codes.ts';
import { accessibilityProblems, layoutProblems, openAll, textProblems } from './support/look.ts';
import { useStage } from './support/use-stage.ts';

// A font that lacks letters draws boxes of another width.
const opened = useStage({ forReading: true });

const expected = /status of (404|503)/;

/** A phone's and a desktop's page, each with and without script. */
const looks = (['phone', 'desktop'] as const).flatMap((device) =>
  [true, false].map((javaScriptEnabled) => ({ device, javaScriptEnabled })),
);
type Look = (typeof looks)[number];

/** Their directions and alphabets differ most. Colors are those of every language. */
const inEveryColor = ['en', 'ur'];

test.each(languageCodes)('in %s every page fits, and every state is accessible', async (code) => {
  const shop = { merchant_id: await opened.stage.shopCalled('Kaffeehaus Müller'), return_url: 'https://shop.example/' };
  const problems: string[] = [];
  const lookAt = async (name: string, url: string, status = 200) => {
    const shown = { name, url: `${url}?lang=${code}`, status };
    problems.push(...(await Promise.all(looks.map((look) => problemsOf(look, shown, code)))).flat());
  };
  for (const [name, state, changes] of everyPage)
    await lookAt(name, opened.stage.show(checkout(state, { ...shop, ...changes })));
  await lookAt('not found', `${opened.stage.origin}/pay/${newPublicToken()}`, 404);
  opened.stage.payments.fail(true);
  await lookAt('unavailable', opened.stage.show(checkout('waiting', shop)), 503);
  expect(problems).toEqual([]);
});

type Shown = { name: string; url: string; status: number };

async function problemsOf(look: Look, { name, url, status }: Shown, code: string): Promise<string[]> {
  const page = await opened.browser.look({ ...look, expected });
  const answer = await page.goto(url);
  // Without script the page reloads itself, perhaps while it is looked at.
  if (!look.javaScriptEnabled) await page.evaluate('window.stop()');
  const problems = answer?.status() === status ? [] : [`status ${answer?.status()}`];
  problems.push(...(await layoutProblems(page)), ...(await textProblems(page)));
  await openAll(page);
  problems.push(...(await layoutProblems(page)), ...(await textProblems(page)));
  for (const colorScheme of colorsOf(look, name, code)) {
    await page.emulateMedia({ colorScheme });
    problems.push(...(await accessibilityProblems(page)).map((problem) => `${colorScheme}: ${problem}`));
  }
  const script = look.javaScriptEnabled ? 'with' : 'without';
  return problems.map((problem) => `${name}, ${look.device} ${script} script: ${problem}`);
}

/** In which colors axe looks at the page. It takes longer than everything else here, so not every page in every language. */
function colorsOf({ device, javaScriptEnabled }: Look, name: string, code: string): readonly ('light' | 'dark')[] {
  if (!javaScriptEnabled) return [];
  if (inEveryColor.includes(code)) return ['dark', 'light'];
  return device === 'phone' && states.some((state) => state === name) ? ['light'] : [];
}

/** How much, on which network, how, and where to. */
const needed = ['.what .figure', '.what strong', '.wallet-link', '.where .recipient', '.what .copy', '.where .copy'];

test.each(languageCodes)('in %s a phone shows all that is needed to pay without scrolling', async (code) => {
  const page = await opened.browser.look({ device: 'phone', expected });
  const merchant_id = await opened.stage.shopCalled('Kaffeehaus Müller');
  for (const changes of [{}, { amount: '1249.5037' }, { network: 'ethereum', merchant_wallet: EVM_WALLET }]) {
    await page.goto(`${opened.stage.show(checkout('waiting', { merchant_id, ...changes }))}?lang=${code}`);
    for (const selector of needed) expect([selector, await isOnScreen(page, selector)]).toEqual([selector, true]);
  }
});

async function isOnScreen(page: Page, selector: string): Promise<boolean> {
  const part = page.locator(selector);
  const box = (await part.isVisible()) ? await part.boundingBox() : null;
  return box !== null && box.y >= 0 && box.y + box.height <= page.viewportSize()!.height;
}

test.each([
  ['covers another', '.hint { margin-block-start: -1.5rem }', 'covers "'],
  ['covers a button', '.where dt { text-align: end }', 'covers button.copy'],
  ['is cut off', '.rows { max-height: 3rem; overflow: hidden }', 'is cut off by'],
  ['has broken words', 'dt { width: 1rem; overflow-wrap: anywhere }', 'is broken'],
])('a text that %s is found', async (_what, content, problem) => {
  const page = await opened.browser.look({ bypassCSP: true });
  await page.goto(opened.stage.show(checkout('waiting')));
  expect(await textProblems(page)).toEqual([]);
  await page.addStyleTag({ content });
  expect((await textProblems(page)).join('\n')).toContain(problem);
});
