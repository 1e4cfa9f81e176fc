import { beforeAll, describe, expect } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { send } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { createAndPay, patience } from '../../support/paying.ts';
import { rule } from '../support/rule.ts';

/** What the hosted page shows beyond the interface document, read like a browser without scripts. */
export function extensionsPageSection(contract: Contract): void {
  describe('the checkout page, beyond the interface document', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const pageOf = async ({ payment_url: url }: Payment, query = '') => (await send('GET', url + query)).text;
    const cancel = ({ payment_id: id }: Payment) => merchant.call('POST', `/api/v1/payments/${id}/cancel`);

    rule('extensions.page.return', 'links back to the shop while it waits, is paid, and is cancelled', async () => {
      const body = { return_url: 'https://shop.example/orders/7?from=a&to=b' };
      const link = 'href="https://shop.example/orders/7?from=a&amp;to=b" rel="noopener noreferrer"';
      const waiting = await merchant.created({ amount: '61.10', ...body });
      expect(await pageOf(waiting)).toContain(link);
      await cancel(waiting);
      expect(await pageOf(waiting)).toMatch(/data-state="cancelled"/);
      expect(await pageOf(waiting)).toContain(link);
      const paid = await createAndPay(contract.stack, merchant, body);
      expect(await pageOf(paid)).toMatch(/data-state="paid"/);
      expect(await pageOf(paid)).toContain(link);
      expect(await pageOf(await merchant.created({ amount: '61.20' }))).not.toContain('class="back"');
    });

    rule('extensions.page.shop', 'shows the shop’s own name as text, and none before it is set', async () => {
      const payment = await merchant.created({ amount: '61.50' });
      expect(await pageOf(payment)).not.toContain('class="shop"');
      const body = { display_name: '<b>Söhne</b> & Co' };
      expect(await merchant.call('PUT', '/api/v1/merchant/profile', { body })).toMatchObject({ status: 200 });
      await eventually(
        async () => expect(await pageOf(payment)).toContain('>&lt;b&gt;Söhne&lt;/b&gt; &amp; Co</bdi>'),
        patience,
      );
    });

    rule('extensions.page.reference', 'shows the reference, and neither order_id nor metadata', async () => {
      const body = { order_id: 'private-order-4711', metadata: { seat: 'private-row-12' } };
      const payment = await merchant.created({ amount: '61.30', ...body });
      const page = await pageOf(payment);
      expect(payment.reference).toHaveLength(8);
      expect(page).toContain(`<span class="reference">${payment.reference}</span>`);
      expect(page).not.toMatch(/private-|mer_|pay_/);
    });

    rule(
      'extensions.page.help',
      'has a form for a transaction id that any browser can send to the page itself',
      async () => {
        const answer = await send('GET', (await merchant.created({ amount: '61.40' })).payment_url);
        expect(answer.text).toMatch(/<form action="#[^"]*">.*<input[^>]*name="transaction_id"/s);
        expect(answer.headers['content-security-policy']).toContain("form-action 'self'");
      },
    );
  });
}
