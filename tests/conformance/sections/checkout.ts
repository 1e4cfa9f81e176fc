import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import { newPublicToken } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { openBrowser, type TestBrowser } from '../../browser/support/browser.ts';
import { watchPage, type StatusAnswer } from '../../browser/support/watched-page.ts';
import { send } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { tokenOf, untilStatus } from '../../support/paying.ts';
import { rule } from '../support/rule.ts';

const PENDING: StatusAnswer = { status: 200, body: { status: 'PENDING' } };

/** The hosted checkout page in a real browser, whose clock the test moves. tests/browser tests more of it. */
export function checkoutSection(contract: Contract): void {
  describe('the checkout page', () => {
    let merchant: Merchant;
    let payment: Payment;
    let browser: TestBrowser;

    beforeAll(async () => {
      browser = await openBrowser();
      merchant = await openMerchant(contract.stack);
      payment = await merchant.created({ amount: '81.50', description: '<script>alert(1)</script> & "Zoë"' });
      // Chromium is downloaded when it is used for the first time.
    }, 300_000);
    afterEach(() => browser.leaveAll());
    afterAll(() => browser.close());
    const open = () => watchPage(browser, payment.payment_url);

    rule(
      ['payment.payment_url', 'payment.link', 'payment.description', 'auth.2'],
      'shows the payment to anyone with the link, as text, and nothing of the merchant or its keys',
      async () => {
        const answer = await send('GET', payment.payment_url);
        expect(answer).toMatchObject({
          status: 200,
          headers: {
            'content-type': 'text/html; charset=utf-8',
            'cache-control': 'no-store',
            'content-security-policy': expect.stringContaining("script-src 'self'"),
            'referrer-policy': 'no-referrer',
          },
        });
        const script = await send('GET', contract.stack.edge_url + /<script src="([^"]+)"/.exec(answer.text)![1]!);
        expect(script).toMatchObject({ status: 200, headers: { 'content-type': expect.stringMatching(/javascript/) } });
        for (const hidden of ['<script>alert', payment.payment_id, merchant.merchantId, 'qk_', 'X-API-Key']) {
          expect(answer.text + script.text).not.toContain(hidden);
        }
        const { page } = await open();
        expect(await page.locator('main').getAttribute('data-status')).toBe('PENDING');
        expect(await page.locator('.amount').innerText()).toBe('81.50 USDT');
        expect(await page.locator('.recipient').textContent()).toBe(merchant.wallet);
        expect(await page.locator('.description').innerText()).toBe('<script>alert(1)</script> & "Zoë"');
        expect(await send('GET', `${contract.stack.edge_url}/pay/${newPublicToken()}`)).toMatchObject({ status: 404 });
      },
    );

    rule('extensions.page.link', 'leads on from a link with the punctuation after it', async () => {
      for (const end of ['.', ',', ')', '%3E', '!%22', '%E2%80%A6']) {
        const answer = await send('GET', `${payment.payment_url}${end}?lang=de`);
        const to = new URL(String(answer.headers['location']), payment.payment_url).href;
        expect([answer.status, to]).toEqual([302, `${payment.payment_url}?lang=de`]);
      }
    });

    rule('limits.app.rule7', 'polls the public status every 3.8 to 4 seconds while it is PENDING', async () => {
      const shown = await open();
      shown.answers = PENDING;
      for (let polls = 0, last = await shown.now(); polls < 40; polls += 1) {
        await shown.passUntil(last + 3_790);
        expect(await shown.asked()).toHaveLength(polls);
        await shown.passUntil(last + 4_000);
        const { path, at } = (await shown.asked())[polls]!;
        expect(path).toBe(`/api/v1/payments/${tokenOf(payment)}`);
        if (polls > 0) expect(at - last).toBeGreaterThanOrEqual(3_800);
        expect(at - last).toBeLessThanOrEqual(4_001);
        last = at;
      }
      // Only the page shows money that may be for the payment, so it is loaded every 20 seconds: 160 have passed.
      expect((await shown.pagesAsked()).length).toBeLessThanOrEqual(8);
    });

    rule('limits.app.rule7', 'never has two polls open, and polls again only after the answer', async () => {
      const shown = await open();
      const answer = Promise.withResolvers<{ status: number; body: object }>();
      shown.answers = answer.promise;
      await shown.page.clock.runFor(9_000);
      await shown.page.evaluate('dispatchEvent(new Event("online"))');
      await shown.page.clock.runFor(4_000);
      expect(await shown.asked()).toHaveLength(1);
      shown.answers = PENDING;
      answer.resolve({ status: 200, body: { status: 'PENDING' } });
      await shown.settled();
      await shown.pass(4_001);
      expect(await shown.asked()).toHaveLength(2);
      expect(await shown.mostOpen()).toBe(1);
    });

    rule(
      'limits.app.rule7',
      'pauses while the page is hidden, and polls at once when it is visible or online again',
      async () => {
        const shown = await open();
        shown.answers = PENDING;
        await shown.hide(true);
        await shown.pass(120_000);
        expect(await shown.asked()).toHaveLength(0);
        await shown.hide(false);
        expect(await shown.asked()).toHaveLength(1);
        await shown.pass(1_000);
        await shown.connect(false);
        await shown.connect(true);
        expect(await shown.asked()).toHaveLength(2);
        await shown.pass(4_001);
        expect(await shown.asked()).toHaveLength(3);
      },
    );

    rule(
      'limits.app.rule7',
      'waits longer after each failure, at most thirty seconds, and as long as a 429 demands',
      async () => {
        const shown = await open();
        const oneMore = async () => {
          const before = (await shown.asked()).length;
          for (let seconds = 0; (await shown.asked()).length === before && seconds < 40; seconds += 1)
            await shown.pass(1_000);
          return (await shown.asked())[before]!.at;
        };
        /** The time from a poll with this answer to the next poll. The answer arrives at a full second. */
        const waitAfter = async (answers: StatusAnswer) => {
          shown.answers = answers;
          const askedAt = await oneMore();
          return (await oneMore()) - askedAt;
        };
        const waits: number[] = [];
        for (let pairs = 0; pairs < 2; pairs += 1) {
          waits.push(await waitAfter('network failure'));
          waits.push(await waitAfter({ status: 503, body: { detail: 'Service temporarily unavailable' } }));
        }
        expect(waits[0]).toBeGreaterThan(4_000);
        expect(waits[1]).toBeGreaterThan(waits[0]!);
        expect(Math.max(...waits)).toBeLessThanOrEqual(31_000);
        const limited = { status: 429, body: { detail: 'Rate limit exceeded' }, headers: { 'retry-after': '17' } };
        const limitedFor = await waitAfter(limited);
        expect(Math.round(limitedFor / 1_000)).toBeGreaterThanOrEqual(17);
        expect(limitedFor).toBeLessThanOrEqual(18_001);
      },
    );

    rule(
      ['limits.app.rule7', 'states.payment.polled'],
      'shows the new status when it has changed, and stops polling once the payment has ended',
      async () => {
        const own = await merchant.created({ amount: '82' });
        const shown = await watchPage(browser, own.payment_url);
        await payOnChain(contract.stack.chain, own.merchant_wallet, own.amount);
        await untilStatus(contract.stack, own, 'PAID');
        await shown.pass(4_001);
        expect(await shown.page.locator('main').getAttribute('data-status')).toBe('PAID');
        const asked = await shown.asked();
        await shown.pass(600_000);
        await shown.hide(true);
        await shown.hide(false);
        expect(await shown.asked()).toEqual(asked);
      },
    );
  });
}
