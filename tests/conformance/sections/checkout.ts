import { beforeAll, describe, expect } from '@jest/globals';
import { newPublicToken } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/payment.ts';
import { send, type HttpAnswer } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../support/merchant.ts';
import { createAndPay, tokenOf } from '../support/paying.ts';
import { runOnPage } from '../support/page-script.ts';
import { rule } from '../support/rule.ts';

/** The hosted checkout page, and the script it is served with, run here with a clock of its own. */
export function checkoutSection(contract: Contract): void {
  describe('the checkout page', () => {
    let merchant: Merchant;
    let payment: Payment;
    let page: HttpAnswer;
    let script: HttpAnswer;

    const scriptPathOf = (html: string) => /<script src="([^"]+)"/.exec(html)?.[1];

    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
      payment = await merchant.created({ amount: '81.50', description: '<script>alert(1)</script> & "Zoë"' });
      page = await send('GET', payment.payment_url);
      script = await send('GET', contract.stack.edge_url + scriptPathOf(page.text)!);
    });
    const open = (status = 'PENDING') => runOnPage(script.text, { status, token: tokenOf(payment) });

    rule(
      ['payment.payment_url', 'payment.link', 'payment.description', 'auth.2'],
      'shows the payment to whoever has the link, as text, and nothing of the merchant or its keys',
      async () => {
        expect(page).toMatchObject({
          status: 200,
          headers: {
            'content-type': 'text/html; charset=utf-8',
            'cache-control': 'no-store',
            'content-security-policy': expect.stringContaining("script-src 'self'"),
            'referrer-policy': 'no-referrer',
          },
        });
        expect(page.text).toContain('data-status="PENDING"');
        for (const shown of ['81.50 USDT', merchant.wallet, payment.network, '&lt;script&gt;alert(1)&lt;/script&gt;']) {
          expect(page.text).toContain(shown);
        }
        for (const hidden of ['<script>alert', payment.payment_id, merchant.merchantId, 'qk_', 'X-API-Key']) {
          expect(page.text + script.text).not.toContain(hidden);
        }
        expect(await send('GET', `${contract.stack.edge_url}/pay/${newPublicToken()}`)).toMatchObject({ status: 404 });
      },
    );

    rule(
      'limits.app.rule7',
      'asks for the public status every 3.8 to 4 seconds while the payment is unfinished',
      async () => {
        expect(script).toMatchObject({ status: 200, headers: { 'content-type': expect.stringMatching(/javascript/) } });
        for (const status of ['PENDING', 'CHECKING']) {
          const shown = open(status);
          const askedAt: number[] = [];
          for (let polls = 0; polls < 30; polls += 1) {
            await shown.pass(shown.nextTimer()!);
            askedAt.push(shown.now());
            await shown.asked.at(-1)!.answer(200, { status });
          }
          expect(shown.asked.map(({ path }) => path)).toEqual(
            shown.asked.map(() => `/api/v1/payments/${tokenOf(payment)}`),
          );
          const gaps = askedAt.map((at, index) => at - (askedAt[index - 1] ?? 0));
          for (const gap of gaps) {
            expect(gap).toBeGreaterThanOrEqual(3_800);
            expect(gap).toBeLessThanOrEqual(4_000);
          }
          expect(shown.asked).toHaveLength(30);
          expect(shown.reloads()).toBe(0);
        }
      },
    );

    rule('limits.app.rule7', 'never has two questions open, and asks again only after the answer', async () => {
      const shown = open();
      await shown.pass(60_000);
      await shown.goOnline();
      expect(shown.asked).toHaveLength(1);
      await shown.asked[0]!.answer(200, { status: 'PENDING' });
      await shown.pass(4_000);
      expect(shown.asked).toHaveLength(2);
    });

    rule('limits.app.rule7', 'pauses while nobody looks, and asks at once when looked at or online again', async () => {
      const shown = open();
      await shown.hide(true);
      await shown.pass(120_000);
      expect(shown.asked).toHaveLength(0);
      await shown.hide(false);
      expect([shown.now(), shown.asked.length]).toEqual([120_000, 1]);
      await shown.asked[0]!.answer(200, { status: 'PENDING' });
      await shown.pass(1_000);
      await shown.goOnline();
      expect([shown.now(), shown.asked.length]).toEqual([121_000, 2]);
      await shown.asked[1]!.answer(200, { status: 'PENDING' });
      await shown.pass(4_000);
      expect(shown.asked).toHaveLength(3);
    });

    rule(
      'limits.app.rule7',
      'waits longer after each failure, at most thirty seconds, and as long as a 429 says',
      async () => {
        const shown = open();
        const waits: number[] = [];
        for (let failures = 0; failures < 8; failures += 1) {
          await shown.pass(shown.nextTimer()!);
          const { answer, fail } = shown.asked.at(-1)!;
          await (failures % 2 === 0 ? fail() : answer(503, { detail: 'Service temporarily unavailable' }));
          waits.push(shown.nextTimer()!);
        }
        expect(waits).toEqual(waits.toSorted((one, other) => one - other));
        expect(waits[0]).toBeGreaterThan(4_000);
        expect(waits.at(-1)).toBe(30_000);
        await shown.pass(30_000);
        await shown.asked.at(-1)!.answer(429, { detail: 'Rate limit exceeded' }, { 'retry-after': '17' });
        expect(shown.nextTimer()).toBe(17_000);
        await shown.pass(17_000);
        await shown.asked.at(-1)!.answer(200, { status: 'PENDING' });
        expect(shown.nextTimer()).toBeLessThanOrEqual(4_000);
      },
    );

    rule(
      ['limits.app.rule7', 'states.payment.polled'],
      'reloads when the status has changed, and asks no more once the payment is over',
      async () => {
        const shown = open();
        await shown.pass(4_000);
        await shown.asked[0]!.answer(200, { status: 'CHECKING' });
        expect(shown.reloads()).toBe(1);
        for (const status of ['PAID', 'EXPIRED', 'CANCELLED']) {
          const over = open(status);
          await over.goOnline();
          await over.pass(600_000);
          expect([status, over.asked.length, over.nextTimer()]).toEqual([status, 0, null]);
        }
        const paid = await createAndPay(contract.stack, merchant, { amount: '82' });
        const paidPage = await send('GET', paid.payment_url);
        expect(paidPage.text).toContain('data-status="PAID"');
        expect(scriptPathOf(paidPage.text)).toBeUndefined();
      },
      60_000,
    );
  });
}
