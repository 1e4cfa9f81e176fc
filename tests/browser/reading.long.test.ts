import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '@quittance/testkit/eventually.ts';
import { guide } from './guide.ts';
import type { VisitOptions } from './support/browser.ts';
import { checkout, EVM_WALLET, states, TRON_WALLET, type State } from './support/checkouts.ts';
import { hostileDescriptions } from './support/hostile-descriptions.ts';
import { languageCodes } from './support/language-codes.ts';
import { accessibilityProblems, layoutProblems, placesOfWords } from './support/look.ts';
import { useStage } from './support/use-stage.ts';
import { watchPage } from './support/watched-page.ts';

type Copying = { dataset: { copy: string } };

const opened = useStage();

guide(opened);

async function open(url: string, options: VisitOptions = {}): Promise<Page> {
  const { page } = await opened.browser.visit(options);
  await page.goto(url);
  return page;
}

describe('copying', () => {
  const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };
  const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');
  const buttons = [
    ['the amount', '1249.50'],
    ['the address', TRON_WALLET],
  ] as const;

  /** Another page of the same visitor, in case the page's own clipboard is broken. */
  async function pasted(page: Page): Promise<string> {
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.bringToFront();
    return copied(other);
  }

  test.each(buttons)('%s needs one tap, confirms it, and copies the exact text', async (what, text) => {
    const { page, pass } = await watchPage(opened.browser, opened.stage.show(checkout('waiting')), clipboard);
    const button = page.getByRole('button', { name: `Copy ${what}` });
    await button.tap();
    await eventually(async () => expect(await button.innerText()).toBe('Copied'));
    await pass(200);
    expect(await page.locator('.announcement').innerText()).toBe('Copied');
    expect(await copied(page)).toBe(text);
    await pass(2_000);
    expect(await button.innerText()).toBe('Copy');
  });

  test.each([
    ['is missing, as on pages without HTTPS', 'Object.defineProperty(navigator, "clipboard", { value: undefined })'],
    [
      'is denied',
      'navigator.clipboard.writeText = () => Promise.reject(new DOMException("denied", "NotAllowedError"))',
    ],
  ])('works if the clipboard %s, and keeps the focus', async (_how, breakIt) => {
    const { page } = await watchPage(opened.browser, opened.stage.show(checkout('waiting')), clipboard);
    await page.evaluate(breakIt);
    const button = page.locator(`[data-copy="${TRON_WALLET}"]`);
    await button.focus();
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await button.innerText()).toBe('Copied'));
    expect(await page.evaluate<string>('document.activeElement.dataset.copy')).toBe(TRON_WALLET);
    expect(await pasted(page)).toBe(TRON_WALLET);
  });

  test('says so if a browser allows no copying at all, until something is copied', async () => {
    const { page, live } = await watchPage(opened.browser, opened.stage.show(checkout('waiting')));
    await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })');
    await page.evaluate('document.execCommand = () => false');
    const button = page.locator('[data-copy]').first();
    await button.tap();
    const note = page.locator('.note');
    await eventually(async () => expect(await note.innerText()).toContain('Select the text instead'));
    expect(await button.innerText()).toBe('Copy');
    await live(9);
    expect(await note.innerText()).toContain('Select the text instead');
    await page.evaluate('document.execCommand = () => true');
    await button.tap();
    await eventually(async () => expect(await note.innerText()).toBe(''));
  });

  test('selects the exact address for manual copying with one click, without a space in it', async () => {
    for (const wallet of [TRON_WALLET, EVM_WALLET]) {
      const network = wallet === EVM_WALLET ? 'ethereum' : 'tron';
      const url = opened.stage.show(checkout('waiting', { merchant_wallet: wallet, network }));
      const page = await open(url, { ...clipboard, device: 'desktop' });
      await page.locator('.recipient b').first().click();
      await page.keyboard.press('ControlOrMeta+c');
      expect(await copied(page)).toBe(wallet);
      await page.locator('.figure').click();
      await page.keyboard.press('ControlOrMeta+c');
      expect(await copied(page)).toBe('1249.50');
      await page.goto(`${url}?lang=de`);
      expect(await page.locator('.figure').innerText()).toBe('1249,50');
      await page.locator('.exact bdi').click();
      await page.keyboard.press('ControlOrMeta+c');
      expect(await copied(page)).toBe('1249.50');
    }
  });
});

describe('languages', () => {
  const rightToLeft = ['ar', 'fa', 'ur'];
  /** Without the script, which some languages have to name: "zh-Hans". */
  const twoLetters = (language: string | null) => language?.split('-')[0] ?? '';
  const languageOf = async (page: Page) => twoLetters(await page.locator('html').getAttribute('lang'));

  test.each(languageCodes)(
    '%s fits a small phone in every state, and copies the same as all other languages',
    async (code) => {
      const page = await opened.browser.look({ device: 'smallPhone' });
      const urlOf = (state: State) =>
        `${opened.stage.show(checkout(state, { amount: '1234567.891011' }))}?lang=${code}`;
      await page.goto(urlOf('waiting'));
      expect(await languageOf(page)).toBe(code);
      expect(await page.locator('html').getAttribute('dir')).toBe(rightToLeft.includes(code) ? 'rtl' : 'ltr');
      const copied = await page
        .locator('[data-copy]')
        .evaluateAll((buttons: Copying[]) => buttons.map(({ dataset }) => dataset.copy));
      expect(copied).toEqual(['1234567.891011', TRON_WALLET]);
      expect(await page.locator('.recipient').textContent()).toBe(TRON_WALLET);
      expect(await page.locator('main').innerText()).toMatch(/Tron.*TRC-?20/s);
      for (const state of states) {
        if (state !== 'waiting') await page.evaluate(takeMainOf(urlOf(state)));
        expect(await page.locator('main').getAttribute('data-state')).toBe(state);
        expect([state, await layoutProblems(page)]).toEqual([state, []]);
        const shown = (await page.locator('main').innerText()).replace(/\b(?:nulla|annullato)\b/g, 'an Italian word');
        expect(shown).not.toMatch(/[{}]|undefined|null|NaN/);
      }
    },
  );

  /** Evaluated in the page: shows another payment as the page's own script does, which is faster than a page load. */
  const takeMainOf = (url: string) => `
    fetch('${url}').then((answer) => answer.text()).then((text) => {
      const other = new DOMParser().parseFromString(text, 'text/html');
      document.querySelector('main').replaceWith(other.querySelector('main'));
    })`;

  test.each([
    ['de-AT', 'de'],
    ['pt-BR', 'pt'],
    ['zh-Hans-CN', 'zh'],
    ['fa-IR', 'fa'],
    ['sw', 'en'],
  ])('a browser set to %s gets the page in %s', async (locale, code) => {
    const page = await open(opened.stage.show(checkout('seen')), { locale });
    expect(await languageOf(page)).toBe(code);
  });

  test('the switch names each language in that language, and keeps the chosen QR code', async () => {
    const page = await open(`${opened.stage.show(checkout('waiting'))}?qr=link`);
    await page.locator('footer summary').click();
    const named = await page
      .locator('footer a')
      .evaluateAll((links: { lang: string }[]) => links.map(({ lang }) => lang));
    const offered = named.map(twoLetters);
    expect(offered.toSorted()).toEqual(languageCodes.toSorted());
    expect(await layoutProblems(page)).toEqual([]);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('link', { name: 'العربية' }).click();
    await page.locator('html[lang=ar]').waitFor();
    expect(await page.locator('a.wallet-link').count()).toBe(1);
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  test.each(rightToLeft)(
    '%s is laid out from right to left, except what wallets read from left to right',
    async (code) => {
      const url = opened.stage.show(checkout('waiting', { description: 'Order 4711' }));
      const page = await opened.browser.look();
      const boxOf = async (page: Page, selector: string) => (await page.locator(selector).first().boundingBox())!;
      await page.goto(`${url}?lang=en`);
      const plainIcon = await boxOf(page, '.icon');
      await page.goto(`${url}?lang=${code}`);
      const iconSides = [plainIcon, await boxOf(page, '.icon')].map(({ x }) => x < 180);
      expect(iconSides).toEqual([true, false]);
      for (const selector of ['.recipient', '.amount']) {
        const direction = `getComputedStyle(document.querySelector('${selector}')).direction`;
        expect([selector, await page.evaluate(direction)]).toEqual([selector, 'ltr']);
      }
      const groups = await page.locator('.recipient .group').all();
      const [first, second] = [await groups[0]!.boundingBox(), await groups[1]!.boundingBox()];
      expect([first!.y, first!.x < second!.x]).toEqual([second!.y, true]);
      const { x: figure } = await boxOf(page, '.amount .figure');
      const amount = await boxOf(page, '.amount');
      expect(Math.round(figure)).toBe(Math.round(amount.x));
    },
  );
});

describe('descriptions', () => {
  test.each(Object.entries(hostileDescriptions))(
    'with %s stay text, inside their own element',
    async (_what, description) => {
      const page = await opened.browser.look({ device: 'smallPhone' });
      await page.goto(opened.stage.show(checkout('waiting', { description: 'harmless' })));
      const places = await placesOfWords(page);
      await page.goto(opened.stage.show(checkout('waiting', { description })));
      expect(await page.locator('.description').textContent()).toBe(description);
      expect(await page.locator('.description *').count()).toBe(0);
      expect(await placesOfWords(page)).toEqual(places);
      expect(await layoutProblems(page)).toEqual([]);
      const [box, card] = [await page.locator('.description').boundingBox(), await page.locator('main').boundingBox()];
      expect([box!.x >= card!.x, box!.x + box!.width <= card!.x + card!.width]).toEqual([true, true]);
    },
  );

  test('of any length are shown in full, so that no visitor has to scroll within them', async () => {
    for (const description of [hostileDescriptions.lines, hostileDescriptions['long-word']]) {
      const page = await opened.browser.look();
      await page.goto(opened.stage.show(checkout('waiting', { description })));
      const heights =
        'const { scrollHeight, clientHeight } = document.querySelector(".description"); [scrollHeight, clientHeight]';
      const [needed, shown] = await page.evaluate<[number, number]>(heights);
      expect(shown).toBe(needed);
      expect(await accessibilityProblems(page)).toEqual([]);
    }
  });
});

describe('without script', () => {
  test.each(states)('a payment that is %s is complete, and reloads by itself while it may change', async (state) => {
    const url = `${opened.stage.show(checkout(state))}?lang=en`;
    const page = await opened.browser.look({ javaScriptEnabled: false });
    await page.goto(url);
    expect(await page.locator('main').getAttribute('data-state')).toBe(state);
    const isOpen = ['waiting', 'over', 'arrived', 'frozen', 'seen'].includes(state);
    const refresh = page.locator('meta[http-equiv=refresh]');
    expect(await refresh.count()).toBe(isOpen ? 1 : 0);
    if (isOpen) expect(await refresh.getAttribute('content')).toBe('10');
    if (isOpen)
      expect(await page.locator('.reload').innerText()).toContain('This page reloads itself every 10 seconds');
    expect(await page.locator('.copy:visible').count()).toBe(0);
    expect(await page.locator('.amount:visible').last().innerText()).toBe('1249.50 USDT');
    expect(await page.locator('.recipient:visible').innerText()).toBe(TRON_WALLET);
    expect(await page.locator('svg.qr:visible').count()).toBe(state === 'waiting' ? 1 : 0);
    if (state === 'waiting') expect(await page.locator('time').innerText()).toMatch(/UTC$/);
    expect(await layoutProblems(page)).toEqual([]);
  });
});
