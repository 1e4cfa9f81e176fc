import { describe, expect, test } from '@jest/globals';
import { newPublicToken } from '@quittance/contracts/ids.ts';
import type { Page } from 'playwright-core';
import type { Device } from './support/browser.ts';
import { checkout, ownAddress, states, TRON_WALLET, warned, type State } from './support/checkouts.ts';
import { hostileDescriptions } from './support/hostile-descriptions.ts';
import { accessibilityProblems, layoutProblems, scan } from './support/look.ts';
import { useStage } from './support/use-stage.ts';

/** What each state says, and whether it still offers payment. */
const headings: Record<State, string> = {
  waiting: 'Waiting for your payment',
  over: 'The time to pay has ended',
  arrived: '1248.50 USDT has arrived at this address',
  frozen: 'This address is frozen',
  seen: 'Payment found',
  paid: 'Paid',
  expired: 'This payment has expired',
  cancelled: 'This payment was cancelled',
};

const opened = useStage();

const expected = /status of (404|503)/;

/** A desktop browser of 1280 pixels at 400 % leaves 320 for the page. */
const zoomed = { viewport: { width: 320, height: 200 } };

async function expectWellMade(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await accessibilityProblems(page)]).toEqual([colorScheme, []]);
  }
  expect(await layoutProblems(page)).toEqual([]);
}

async function expectLaidOut(url: string): Promise<void> {
  for (const options of [{ device: 'smallPhone' as Device }, { device: 'desktop' as Device, ...zoomed }]) {
    const page = await opened.browser.look({ expected, ...options });
    await page.goto(url);
    expect(await layoutProblems(page)).toEqual([]);
  }
}

describe.each(states)('a payment that is %s', (state) => {
  test.each(['phone', 'desktop'] as const)('is shown on a %s', async (device) => {
    const page = await opened.browser.look({ device, expected });
    const answer = await page.goto(opened.stage.show(checkout(state)));
    expect(answer?.status()).toBe(200);
    expect(await page.locator('main').getAttribute('data-state')).toBe(state);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(headings[state]);
    const amounts = await page.locator('.amount:visible').allInnerTexts();
    expect(amounts).toEqual(state === 'arrived' ? ['1248.50 USDT', '1249.50 USDT'] : ['1249.50 USDT']);
    expect(await page.locator('.recipient:visible').textContent()).toBe(TRON_WALLET);
    expect(await page.locator('.description:visible').innerText()).toBe('Order 4711: two cups of coffee');
    expect(await page.locator('.reference:visible').first().innerText()).toBe('K7QMX2RD');
    expect(await page.getByText('USDT on Tron').first().isVisible()).toBe(true);
    const invites = ['svg.qr', '[data-copy]', '[role=timer]', '.warning'];
    for (const invitation of invites) {
      expect([invitation, await page.locator(invitation).first().isVisible()]).toEqual([
        invitation,
        state === 'waiting',
      ]);
    }
    await expectWellMade(page);
  });

  test('fits on the smallest phone, and on a desktop at 400 %', () =>
    expectLaidOut(opened.stage.show(checkout(state))));
});

describe.each(Object.entries(warned))('a page that is %s', (_, [state, changes]) => {
  test('shows the most important message first, and is accessible in this state', async () => {
    const merchant_id = await opened.stage.shopCalled('Café Zoë');
    const url = opened.stage.show(checkout(state, { ...changes, merchant_id }));
    const page = await opened.browser.look({ device: 'phone', expected });
    await page.goto(url);
    expect(await page.locator('h1').innerText()).toBe(headings[state]);
    const first = page.locator(state === 'arrived' ? '.lead' : '.notice');
    const { y } = (await first.first().boundingBox())!;
    expect(y).toBeLessThan(400);
    if (state === 'arrived') {
      expect(await first.first().innerText()).toBe('If it was you, do not pay again.');
      expect(await page.locator('.contact').innerText()).toMatch(/Café Zoë.*K7QMX2RD/);
      expect(await page.locator('svg.qr').first().isVisible()).toBe(false);
    }
    await expectWellMade(page);
    await expectLaidOut(url);
  });
});

describe.each(Object.entries(ownAddress))(
  'a payment with an address of its own: %s',
  (_, [state, changes, heading]) => {
    test('says what has arrived, and is accessible', async () => {
      const url = opened.stage.show(checkout(state, changes));
      const page = await opened.browser.look({ device: 'phone', expected });
      await page.goto(url);
      expect(await page.locator('main').getAttribute('data-state')).toBe(state);
      expect(await page.locator('h1').innerText()).toBe(heading);
      for (const invitation of ['svg.qr', '[data-copy]', '[role=timer]'])
        expect([invitation, await page.locator(invitation).first().isVisible()]).toEqual([
          invitation,
          state === 'waiting',
        ]);
      await expectWellMade(page);
      await expectLaidOut(url);
    });
  },
);

test('a transfer’s progress is shown in words and as a bar, and the page says that the chain decides', async () => {
  const page = await opened.browser.look({ device: 'phone', expected });
  await page.goto(opened.stage.show(checkout('seen')));
  expect(await page.locator('.progress').innerText()).toContain('7 of 19');
  const bar = page.getByRole('progressbar');
  expect([await bar.getAttribute('value'), await bar.getAttribute('max')]).toEqual(['7', '19']);
  await page.goto(opened.stage.show(checkout('seen', { confirmations: { seen: 19, required: 19 } })));
  expect((await page.locator('.progress p').allInnerTexts()).length).toBe(2);
  await expectWellMade(page);
});

test('a paid payment links to no other site than the shop, and that link comes first', async () => {
  const page = await opened.browser.look({ device: 'phone', expected });
  for (const return_url of [null, 'https://shop.example/orders/4711?paid=yes&lang=en']) {
    await page.goto(opened.stage.show(checkout('paid', { return_url })));
    const links = await page.locator('a').all();
    const targets = await Promise.all(links.map((link) => link.getAttribute('href')));
    expect(targets.filter((href) => !href?.startsWith('?'))).toEqual(return_url === null ? [] : [return_url]);
  }
  expect(await page.locator('main a').first().innerText()).toBe('Back to the shop');
  await expectWellMade(page);
});

test.each(Object.entries(hostileDescriptions))('a shop name with %s stays inside its element', async (_what, text) => {
  const name = Array.from(text.replace(/\n/g, ' ')).slice(0, 60).join('').slice(0, 60);
  const merchant_id = await opened.stage.shopCalled(name);
  const page = await opened.browser.look({ device: 'smallPhone', expected });
  await page.goto(opened.stage.show(checkout('paid', { merchant_id })));
  expect(await page.locator('.shop-name').textContent()).toBe(name);
  expect(await page.locator('.shop-name *').count()).toBe(0);
  expect(await layoutProblems(page)).toEqual([]);
});

test('the wallet is one tap away on the smallest phone, without scrolling', async () => {
  const page = await opened.browser.look({ device: 'smallPhone', expected });
  await page.goto(opened.stage.show(checkout('waiting')));
  const { y, height } = (await page.locator('a.wallet-link').boundingBox())!;
  expect(y + height).toBeLessThanOrEqual(568);
});

test('after money of another amount has arrived, a customer who did not send it can still pay', async () => {
  const page = await opened.browser.look({ device: 'phone', expected });
  await page.goto(opened.stage.show(checkout('arrived', { amount: '49.9037' })));
  await page.getByText('I have not sent anything yet').click();
  expect(await scan(page.locator('svg.qr'))).toBe(TRON_WALLET);
  expect(await page.locator('.last-digits:visible').first().innerText()).toBe('37');
  await expectWellMade(page);
});

test.each(['other_amount', 'pays_this_payment', 'unknown'] as const)(
  'the result of a transaction look-up is shown in place: %s',
  async (outcome) => {
    const transaction_id = 'ab'.repeat(32);
    const amount = outcome === 'other_amount' ? '48.90' : null;
    const lookup = { transaction_id, outcome, amount, network: null };
    const url = opened.stage.show(checkout('waiting'));
    const { page } = await opened.browser.visit({ javaScriptEnabled: false });
    await page.goto(`${url}?lang=en&qr=link`);
    await page.locator('.help summary').click();
    opened.stage.change(url, checkout('waiting', { lookup }));
    await page.getByLabel('Transaction ID').fill(transaction_id);
    await page.getByRole('button', { name: 'Look it up' }).click();
    await page.locator('.answer').waitFor();
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ lang: 'en', qr: 'link', transaction_id });
    expect(await page.locator('.answer').isVisible()).toBe(true);
    const { y } = (await page.locator('.answer').boundingBox())!;
    expect([y >= 0, y < 740]).toEqual([true, true]);
    expect(await page.getByLabel('Transaction ID').inputValue()).toBe(transaction_id);
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0);
    const seen = await opened.browser.look({ device: 'smallPhone', expected });
    await seen.goto(page.url());
    await expectWellMade(seen);
  },
);

test.each([
  ['not found', 404, () => `${opened.stage.origin}/pay/${newPublicToken()}`],
  ['no token at all', 404, () => `${opened.stage.origin}/pay/nonsense`],
  ['payments away', 503, () => opened.stage.show(checkout('waiting'))],
])('%s also gets a readable page', async (_what, status, urlOf) => {
  opened.stage.payments.fail(status === 503);
  const page = await opened.browser.look({ device: 'phone', expected });
  const url = urlOf();
  expect((await page.goto(url))?.status()).toBe(status);
  expect(await page.locator('h1').innerText()).not.toBe('');
  expect(await page.locator('svg.qr, .recipient, .amount').count()).toBe(0);
  await expectWellMade(page);
  await expectLaidOut(url);
});

test.each(['light', 'dark'] as const)(
  'a scanner reads the address from the QR code in %s mode',
  async (colorScheme) => {
    for (const device of ['smallPhone', 'desktop'] as const) {
      const page = await opened.browser.look({ device, expected });
      await page.emulateMedia({ colorScheme });
      await page.goto(opened.stage.show(checkout('waiting')));
      expect(await scan(page.locator('svg.qr'))).toBe(TRON_WALLET);
    }
  },
);

test('the QR code can hold the wallet link instead, also in dark mode', async () => {
  const page = await opened.browser.look({ device: 'phone', expected });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(
    opened.stage.show(
      checkout('waiting', { network: 'ethereum', merchant_wallet: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }),
    ),
  );
  await page.locator('a[href*="qr=link"]').click();
  const link =
    'ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed&uint256=1249500000';
  expect(await scan(page.locator('svg.qr'))).toBe(link);
  expect(await page.locator('a.wallet-link').getAttribute('href')).toBe(link);
  await expectWellMade(page);
});

test('the keyboard reaches every control from top to bottom, and the focus is visible', async () => {
  const { page } = await opened.browser.visit({ device: 'phone' });
  await page.goto(`${opened.stage.show(checkout('waiting'))}?qr=link`);
  const usable = page.locator('a:visible, button:visible, summary:visible');
  const wanted = await usable.allInnerTexts();
  const reached: { text: string; bottom: number; outline: string }[] = [];
  while (reached.length < wanted.length) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate(focusedElement));
  }
  expect(reached.map(({ text }) => text)).toEqual(wanted);
  expect(new Set(reached.map(({ outline }) => outline))).toEqual(new Set(['solid 3px']));
  const bottoms = reached.map(({ bottom }) => bottom);
  expect(bottoms).toEqual(bottoms.toSorted((one, other) => one - other));
  expect(wanted.length).toBeGreaterThan(5);
});

test('nothing moves while a page loads: space is reserved for what the script adds', async () => {
  const url = opened.stage.show(checkout('waiting', { return_url: 'https://shop.example/' }));
  for (const device of ['phone', 'desktop'] as const) {
    const { page } = await opened.browser.visit({ device });
    await page.goto(url);
    expect(await page.locator('.copy').first().isVisible()).toBe(true);
    // A time of day is shorter than a date. Browsers rate up to 0.1 as good.
    expect(await page.evaluate<number>(shifted)).toBeLessThan(0.01);
  }
});

test('nothing is animated for a visitor who prefers reduced motion', async () => {
  const url = opened.stage.show(checkout('waiting'));
  for (const [reducedMotion, isMoving] of [
    ['no-preference', true],
    ['reduce', false],
  ] as const) {
    const page = await opened.browser.look({ reducedMotion });
    await page.goto(url);
    const moving = await page.evaluate<number>('document.getAnimations().length');
    expect([reducedMotion, moving > 0]).toEqual([reducedMotion, isMoving]);
  }
});

/** Evaluated in the page: the layout shift as browsers measure it. */
const shifted = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (sum += value)))
    .observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => resolve(Math.round(sum * 1000) / 1000)));
})`;

/** Evaluated in the page. */
const focusedElement = `(() => {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const bottom = Math.round(element.getBoundingClientRect().bottom + scrollY);
  return { text: element.innerText, bottom, outline: outlineStyle + ' ' + outlineWidth };
})()`;
