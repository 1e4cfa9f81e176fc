import { describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { checkout, states } from './support/checkouts.ts';
import { countdownOf, gaps, noteOf, stateOf, writeDownAnnouncements } from './support/shown.ts';
import { useStage } from './support/use-stage.ts';
import { watchPage, type StatusAnswer } from './support/watched-page.ts';

const opened = useStage();

const PENDING: StatusAnswer = { status: 200, body: { status: 'PENDING' } };
const HOUR_MS = 3_600_000;

describe('polling', () => {
  test.each(['waiting', 'over', 'seen'] as const)(
    'polls every 3.8 to 4 seconds while the payment is %s',
    async (state) => {
      const shown = await watchPage(
        opened.browser,
        opened.stage.show(checkout(state, { minutesLeft: state === 'over' ? -1 : 60 })),
      );
      shown.answers = { status: 200, body: { status: state === 'seen' ? 'CHECKING' : 'PENDING' } };
      const found = await gaps(shown, state === 'waiting' ? 100 : 30);
      expect(found.length).toBeGreaterThanOrEqual(state === 'waiting' ? 95 : 28);
      expect(Math.min(...found)).toBeGreaterThanOrEqual(3_800);
      expect(Math.max(...found)).toBeLessThanOrEqual(4_001);
      // The intervals vary, so that the pages of one shop don't poll at the same moments forever.
      expect(new Set(found.map((gap) => Math.floor(gap / 50))).size).toBeGreaterThan(2);
      expect(await shown.mostOpen()).toBe(1);
    },
  );

  test('waits at least 3.8 seconds on a real clock too', async () => {
    const { page } = await opened.browser.visit();
    let questions = 0;
    page.on('requestfinished', (request) => void (questions += Number(request.url().includes('/api/'))));
    await page.goto(opened.stage.show(checkout('waiting')));
    await eventually(() => expect(questions).toBeGreaterThanOrEqual(3), { intervalMs: 100 });
    const asked = await page.evaluate<number[]>(
      `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/')).map(({ startTime }) => startTime)`,
    );
    const found = asked.slice(1).map((at, position) => at - asked[position]!);
    expect(found.length).toBeGreaterThanOrEqual(2);
    expect(Math.min(...found)).toBeGreaterThanOrEqual(3_790);
  });

  test.each(states.filter((state) => ['paid', 'expired', 'cancelled'].includes(state)))(
    'never starts if the payment is %s',
    async (state) => {
      const shown = await watchPage(opened.browser, opened.stage.show(checkout(state)));
      await shown.pass(HOUR_MS);
      await shown.hide(true);
      await shown.hide(false);
      expect(await shown.page.evaluate('recorder.asked')).toEqual([]);
    },
  );

  test.each([
    ['without Retry-After', { status: 429, body: { detail: 'Rate limit exceeded' } }, 30_000],
    [
      'with a page of the edge',
      { status: 429, body: '<html><h1>429 Too Many Requests</h1></html>', headers: { 'content-type': 'text/html' } },
      30_000,
    ],
    ['with Retry-After: 7', { status: 429, headers: { 'retry-after': '7' } }, 7_000],
    ['with Retry-After: 45', { status: 429, headers: { 'retry-after': '45' } }, 45_000],
    ['with a Retry-After of a millisecond', { status: 429, headers: { 'retry-after': '0.001' } }, 4_000],
    ['with a Retry-After that is not a number', { status: 429, headers: { 'retry-after': 'soon' } }, 30_000],
  ] satisfies [string, StatusAnswer, number][])(
    'a 429 %s stops it for that time, whatever happens',
    async (_how, answer, waitMs) => {
      const shown = await watchPage(opened.browser, opened.stage.show(checkout('waiting')));
      shown.answers = answer;
      await shown.pass(4_001);
      expect(await shown.asked()).toHaveLength(1);
      const askedAt = await shown.now();
      shown.answers = PENDING;
      await shown.passUntil(askedAt + waitMs / 2);
      await shown.hide(true);
      await shown.hide(false);
      await shown.page.evaluate('dispatchEvent(new Event("online"))');
      await shown.passUntil(askedAt + waitMs - 250);
      expect(await shown.asked()).toHaveLength(1);
      await shown.passUntil(askedAt + waitMs + 250);
      expect(await shown.asked()).toHaveLength(2);
      expect(await noteOf(shown)).toBe('');
    },
  );

  test('polls at most once a second when a connection comes and goes', async () => {
    const shown = await watchPage(opened.browser, opened.stage.show(checkout('waiting')));
    shown.answers = PENDING;
    for (let times = 0; times < 20; times += 1) {
      await shown.page.evaluate('dispatchEvent(new Event("online"))');
      await shown.pass(100);
    }
    const asked = (await shown.asked()).length;
    expect(asked).toBeLessThanOrEqual(3);
    await shown.pass(4_001);
    expect((await shown.asked()).length).toBeGreaterThan(asked);
  });

  test('gives up on a request that is never answered, and polls again', async () => {
    const shown = await watchPage(opened.browser, opened.stage.show(checkout('waiting')));
    shown.answers = new Promise(() => undefined);
    await shown.page.clock.runFor(4_001);
    expect(await shown.asked()).toHaveLength(1);
    shown.answers = PENDING;
    await shown.page.clock.runFor(10_000);
    await shown.settled();
    await shown.pass(30_000);
    expect((await shown.asked()).length).toBeGreaterThan(1);
    expect(await shown.mostOpen()).toBe(1);
  });

  test('reports a lost connection, and stops once it is back', async () => {
    const shown = await watchPage(opened.browser, opened.stage.show(checkout('waiting')));
    shown.answers = PENDING;
    await shown.connect(false);
    await shown.pass(1_000);
    expect(await noteOf(shown)).toContain('No connection');
    await shown.pass(60_000);
    const before = (await shown.asked()).length;
    await shown.connect(true);
    await eventually(async () => {
      await shown.settled();
      expect((await shown.asked()).length).toBe(before + 1);
      expect(await noteOf(shown)).toBe('');
    });
    expect(await countdownOf(shown)).toBeCloseTo(23.75 * 60 - 61, -1);
  });

  test('says that the connection is lost as long as the browser says so, and never together with a final status', async () => {
    const url = opened.stage.show(checkout('waiting', { minutesLeft: 0.5 }));
    const shown = await watchPage(opened.browser, url);
    await shown.connect(false);
    for (let second = 0; second < 25; second += 1) {
      await shown.pass(1_000);
      expect(await noteOf(shown)).toContain('No connection');
    }
    shown.answers = 'network failure';
    await shown.connect(true);
    opened.stage.change(url, checkout('expired'));
    await shown.live(8);
    expect([await stateOf(shown), await noteOf(shown)]).toEqual(['expired', '']);
  });

  test.each([403, 404])('requests the page itself if the status is answered with %d', async (status) => {
    const url = opened.stage.show(checkout('waiting'));
    const shown = await watchPage(opened.browser, url);
    shown.answers = { status, body: '<h1>Not here</h1>' };
    await shown.live(10);
    expect([await stateOf(shown), await noteOf(shown)]).toEqual(['waiting', '']);
    const isGone = status === 404;
    if (isGone)
      await shown.page.route('**/pay/*', (route) => route.continue({ url: `${opened.stage.origin}/pay/none` }));
    else opened.stage.change(url, checkout('paid'));
    await shown.live(5);
    expect(await stateOf(shown)).toBe(isGone ? 'not-found' : 'paid');
  });

  test('shows the page again once it can be loaded', async () => {
    const url = opened.stage.show(checkout('waiting'));
    opened.stage.payments.fail(true);
    const shown = await watchPage(opened.browser, url);
    expect(await stateOf(shown)).toBe('unavailable');
    await shown.pass(60_000);
    expect((await shown.pagesAsked()).length).toBeGreaterThan(1);
    opened.stage.payments.fail(false);
    await shown.pass(30_500);
    expect(await stateOf(shown)).toBe('waiting');
    expect(await shown.page.locator('.copy').first().isVisible()).toBe(true);
  });
});

describe('what is new', () => {
  test('replaces the old content without a page load, and is announced once to screen readers', async () => {
    const url = opened.stage.show(checkout('waiting'));
    const shown = await watchPage(opened.browser, url);
    const { page } = shown;
    await page.evaluate(writeDownAnnouncements);
    const announced = () => page.evaluate<string[]>('window.announced');
    await page.locator('[data-copy]').last().focus();

    opened.stage.change(url, checkout('seen', { confirmations: { seen: 1, required: 19 } }));
    await shown.pass(4_001);
    await shown.pass(1_000);
    expect(await stateOf(shown)).toBe('seen');
    expect(await page.title()).toContain('Payment found');
    expect(await announced()).toEqual([expect.stringContaining('Payment found')]);
    expect(await page.evaluate('document.activeElement.localName')).toBe('h1');
    expect(await page.locator('svg.qr, [data-copy], .countdown').count()).toBe(0);

    opened.stage.change(url, checkout('seen', { confirmations: { seen: 12, required: 19 } }));
    await page.locator('footer summary').focus();
    await shown.pass(4_001);
    expect(await page.locator('.progress').innerText()).toContain('12 of 19');
    expect(await announced()).toHaveLength(1);

    opened.stage.change(url, checkout('paid'));
    await shown.pass(4_001);
    await shown.pass(1_000);
    expect(await stateOf(shown)).toBe('paid');
    expect(await announced()).toEqual([expect.anything(), expect.stringContaining('Paid')]);
    expect(await page.evaluate('document.activeElement.localName')).toBe('summary');
    expect(await page.evaluate('window.announced.length')).toBe(2);
    const asked = await shown.asked();
    await shown.pass(HOUR_MS);
    expect(await shown.asked()).toEqual(asked);
  });

  test('is shown in the chosen language and with the chosen QR code', async () => {
    const url = opened.stage.show(checkout('seen'));
    const shown = await watchPage(opened.browser, `${url}?lang=de&qr=link`);
    opened.stage.change(url, checkout('waiting'));
    await shown.pass(4_001);
    expect(await stateOf(shown)).toBe('waiting');
    expect(await shown.page.locator('html').getAttribute('lang')).toBe('de');
    expect(await shown.page.locator('h1').innerText()).not.toBe('Waiting for your payment');
    expect(await shown.page.locator('a.wallet-link').count()).toBe(1);
  });

  test('shows a transfer’s progress as soon as it is known', async () => {
    const url = opened.stage.show({ ...checkout('seen'), confirmations: null });
    const shown = await watchPage(opened.browser, url);
    opened.stage.change(url, checkout('seen', { confirmations: { seen: 3, required: 19 } }));
    await shown.pass(4_001);
    expect(await shown.page.locator('.progress').innerText()).toContain('3 of 19');
  });

  test('keeps what a customer has opened and typed while the state is the same', async () => {
    const url = opened.stage.show(checkout('waiting'));
    const shown = await watchPage(opened.browser, url);
    await shown.page.locator('.help summary').click();
    await shown.page.getByLabel('Transaction ID').fill('ab12');
    await shown.live(70);
    expect((await shown.pagesAsked()).length).toBeGreaterThanOrEqual(2);
    expect(await shown.page.getByLabel('Transaction ID').inputValue()).toBe('ab12');
  });

  test('never starts a look-up by itself', async () => {
    const lookup = { transaction_id: 'ab'.repeat(32), outcome: 'pending', amount: null, network: null } as const;
    const url = opened.stage.show(checkout('waiting', { lookup }));
    const shown = await watchPage(opened.browser, `${url}?transaction_id=${lookup.transaction_id}`);
    opened.stage.change(url, checkout('seen'));
    await shown.live(10);
    const asked = (await shown.pagesAsked()).map(({ path }) => path);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.join()).not.toContain('transaction_id');
  });

  test('offers payment again when a seen transfer is gone', async () => {
    const url = opened.stage.show(checkout('seen'));
    const shown = await watchPage(opened.browser, url);
    opened.stage.change(url, checkout('waiting', { minutesLeft: 5 }));
    await shown.pass(4_001);
    expect(await stateOf(shown)).toBe('waiting');
    expect(await countdownOf(shown)).toBeGreaterThan(290);
    const before = await countdownOf(shown);
    await shown.pass(3_000);
    expect(before - (await countdownOf(shown))).toBe(3);
  });
});

describe('the countdown', () => {
  test.each([
    ['is right', 0],
    ['is three hours ahead', 3 * HOUR_MS],
    ['is three hours behind', -3 * HOUR_MS],
  ])('follows the server if the clock of the device %s', async (_how, skewMs) => {
    const url = opened.stage.show(checkout('waiting', { minutesLeft: 2 }));
    const shown = await watchPage(opened.browser, url, { deviceTime: Date.now() + skewMs });
    shown.answers = PENDING;
    await shown.live(60);
    expect([59, 60]).toContain(await countdownOf(shown));
    expect(await stateOf(shown)).toBe('waiting');
    await shown.live(59);
    expect(await stateOf(shown)).toBe('waiting');
    opened.stage.change(url, checkout('over'));
    await shown.pass(1_500);
    expect(await stateOf(shown)).toBe('over');
    expect(await shown.page.locator('svg.qr, [data-copy], .countdown').count()).toBe(0);
    expect((await shown.asked()).length).toBeGreaterThan(28);
  });

  test.each([3 * HOUR_MS, -3 * HOUR_MS])(
    'continues unchanged when the clock of the device jumps by %d ms',
    async (jumpMs) => {
      const url = opened.stage.show(checkout('waiting', { minutesLeft: 10 }));
      const shown = await watchPage(opened.browser, url);
      shown.answers = PENDING;
      await shown.live(60);
      const before = await shown.page.evaluate<number>('Date.now()');
      const pages = (await shown.pagesAsked()).length;
      await shown.page.clock.setSystemTime(before + jumpMs);
      opened.stage.change(url, checkout('waiting', { minutesLeft: 9 }));
      await shown.live(30);
      expect(await stateOf(shown)).toBe('waiting');
      // Polled again within four seconds: nine minutes at first, about thirty seconds less now.
      expect(Math.abs((await countdownOf(shown)) - 9 * 60 + 28)).toBeLessThanOrEqual(2);
      await shown.live(60);
      // One for the jump; the others look for news, one every twenty seconds.
      expect((await shown.pagesAsked()).length).toBeLessThanOrEqual(pages + 1 + 5);
    },
  );

  test.each(['en', 'fa'])('is written by the script as the server writes it in %s', async (code) => {
    for (const minutesLeft of [0.5, 9, 65]) {
      const url = `${opened.stage.show(checkout('waiting', { minutesLeft }))}?lang=${code}`;
      const { page } = await opened.browser.visit({ javaScriptEnabled: false });
      await page.goto(url);
      const [written, counted] = [page, (await watchPage(opened.browser, url)).page].map((shown) =>
        shown.locator('.countdown'),
      );
      const form = (text: string) => text.replace(/(?<=\d|[۰-۹])[\d۰-۹]/g, '_');
      expect(form(await counted!.innerText())).toBe(form(await written!.innerText()));
    }
  });

  test('ends without many requests while the server still considers the payment open', async () => {
    const url = opened.stage.show(checkout('waiting', { minutesLeft: 0.1 }));
    const shown = await watchPage(opened.browser, url);
    shown.answers = PENDING;
    opened.stage.change(url, checkout('waiting', { minutesLeft: 0.0001 }));
    await shown.live(6);
    const before = (await shown.pagesAsked()).length;
    await shown.live(10);
    expect((await shown.pagesAsked()).length - before).toBeLessThanOrEqual(11);
    opened.stage.change(url, checkout('over'));
    await shown.pass(4_001);
    expect(await stateOf(shown)).toBe('over');
  });

  test('shows its end with the next poll when the one at the end failed', async () => {
    const url = opened.stage.show(checkout('waiting', { minutesLeft: 0.1 }));
    const shown = await watchPage(opened.browser, url);
    shown.answers = PENDING;
    await shown.page.route('**/pay/*', (route) => route.abort());
    await shown.live(7);
    expect(await stateOf(shown)).toBe('over');
    await shown.page.unroute('**/pay/*');
    opened.stage.change(url, checkout('expired'));
    shown.answers = 'server';
    // After two failures in a row the next wait is longer.
    await shown.live(20);
    expect(await stateOf(shown)).toBe('expired');
  });

  test.each([
    ['the network is away', 'network failure'],
    ['no request is allowed', { status: 429, headers: { 'retry-after': '300' } }],
  ] satisfies [string, StatusAnswer][])('does not offer payment after its end while %s', async (_why, answers) => {
    const shown = await watchPage(
      opened.browser,
      `${opened.stage.show(checkout('waiting', { minutesLeft: 0.2 }))}?lang=de`,
    );
    shown.answers = answers;
    await shown.page.route('**/pay/*', (route) => route.abort());
    await shown.live(30);
    expect(await stateOf(shown)).toBe('over');
    expect(await shown.page.locator('h1').innerText()).toBe('Die Zeit ist abgelaufen');
    expect(await shown.page.title()).toMatch(/^Die Zeit ist abgelaufen/);
    expect(await shown.page.locator('svg.qr, [data-copy], .countdown, .reload:visible').count()).toBe(0);
  });

  test('does not offer payment on a device that wakes after the end without a network, and does again if the date was wrong', async () => {
    const shown = await watchPage(opened.browser, opened.stage.show(checkout('waiting', { minutesLeft: 10 })));
    await shown.hide(true);
    await shown.page.clock.setSystemTime((await shown.page.evaluate<number>('Date.now()')) + HOUR_MS);
    shown.answers = 'network failure';
    await shown.hide(false);
    expect(await stateOf(shown)).toBe('over');
    shown.answers = PENDING;
    await shown.live(20);
    expect(await stateOf(shown)).toBe('waiting');
  });

  test('announces to screen readers when five minutes and one minute are left, and nothing else', async () => {
    const shown = await watchPage(opened.browser, opened.stage.show(checkout('waiting', { minutesLeft: 6 })));
    shown.answers = PENDING;
    await shown.page.evaluate(writeDownAnnouncements);
    for (let half = 0; half < 11; half += 1) await shown.pass(30_000);
    expect(await shown.page.evaluate('window.announced')).toEqual([
      expect.stringMatching(/(5:00|4:59)$/),
      expect.stringMatching(/(1:00|0:59)$/),
    ]);
  });
});
