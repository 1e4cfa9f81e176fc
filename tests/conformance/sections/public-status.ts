import { beforeAll, describe, expect } from '@jest/globals';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newPublicToken } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { LocalChain } from '../../support/local-chain.ts';
import type { Contract } from '../conformance.test.ts';
import { expectAdmitted, expectRefused } from '../support/counted.ts';
import { apiAt, openMerchant, type Api, type Merchant } from '../../support/merchant.ts';
import { detailsOf, expireSoon, tokenOf, untilStatus } from '../../support/paying.ts';
import { rule } from '../support/rule.ts';

const LIMIT = 120;

/** GET /payments/{public_token}: exactly these fields in every status, for any client. */
export function publicStatusSection(contract: Contract): void {
  describe('the public status', () => {
    let merchant: Merchant;
    let anybody: Api;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
      anybody = apiAt(contract.stack.edge_url);
    });
    const ask = (token: string, headers: Record<string, string> = {}) =>
      anybody('GET', `/api/v1/payments/${token}`, { headers });
    /** The minimum fields of the merchant's own record. */
    const minimumOf = ({ status, amount, currency, network, merchant_wallet, description, expires_at }: Payment) => ({
      status,
      amount,
      currency,
      network,
      merchant_wallet,
      description,
      expires_at,
    });
    async function expectMinimum(payment: Payment, status: string): Promise<void> {
      const answer = await ask(tokenOf(payment));
      expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
      expect(answer.json()).toEqual({ ...minimumOf(payment), status });
    }

    rule(
      ['endpoint.public-status', 'endpoint.rule3.public-status', 'auth.6', 'payment.description'],
      'is the same seven fields without a key, with another merchant’s key and with a wrong one',
      async () => {
        const payment = await merchant.created({ amount: '31.10', description: 'Für Zoë <b>&amp; "x"' });
        const other = await openMerchant(contract.stack, { webhook: false });
        const keys = [{}, { 'X-API-Key': other.apiKey }, { 'X-API-Key': 'qk_wrong' }, { 'X-API-Key': merchant.apiKey }];
        const answers = await Promise.all(keys.map((headers) => ask(tokenOf(payment), headers)));
        for (const answer of answers) {
          expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
          expect(answer.json()).toEqual(minimumOf(payment));
        }
      },
    );

    rule(
      ['endpoint.public-status', 'endpoint.rule3.public-status', 'payment.status', 'states.payment.polled'],
      'shows PENDING, CHECKING and PAID, and the transaction in none of them',
      async () => {
        const payment = await merchant.created({ amount: '32' });
        await expectMinimum(payment, 'PENDING');
        await new LocalChain(contract.stack.chain.rpc_url).withMiningStopped(async () => {
          await payOnChain(contract.stack.chain, merchant.wallet, '32');
          await untilStatus(contract.stack, payment, 'CHECKING');
          await expectMinimum(payment, 'CHECKING');
        });
        await untilStatus(contract.stack, payment, 'PAID');
        await expectMinimum(payment, 'PAID');
      },
    );

    rule(
      ['endpoint.rule3.public-status', 'payment.status'],
      'shows CANCELLED and EXPIRED with the same fields',
      async () => {
        const [cancelled, expired] = await Promise.all([
          merchant.created({ amount: '33' }),
          merchant.created({ amount: '34' }),
        ]);
        await merchant.call('POST', `/api/v1/payments/${cancelled.payment_id}/cancel`);
        await expectMinimum(cancelled, 'CANCELLED');
        await expireSoon(contract.stack, expired);
        await untilStatus(contract.stack, expired, 'EXPIRED');
        // The test has moved the expiry.
        await expectMinimum(await detailsOf(merchant, expired), 'EXPIRED');
      },
    );

    rule(['errors.404', 'endpoint.public-status'], 'of an unknown token is 404, and not cacheable', async () => {
      const { payment_url: url } = await merchant.created({ amount: '35' });
      const token = url.split('/').at(-1)!;
      const flipped = token.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
      const tokens = [newPublicToken(), flipped, token.slice(1), `${token}A`, token.toLowerCase()];
      for (const answer of await Promise.all(tokens.map((unknown) => ask(unknown)))) {
        expect(answer).toMatchObject({ status: 404, headers: { 'cache-control': 'no-store' } });
        expect(answer.json()).toEqual({ detail: 'Payment not found', code: 'not_found' });
      }
    });

    rule(
      ['endpoint.rule3.public-status', 'limits.app.public-status'],
      'counts by its token: too many requests for one are refused, and those for the next are not',
      async () => {
        const [watched, other] = await Promise.all([
          merchant.created({ amount: '36' }),
          merchant.created({ amount: '37' }),
        ]);
        const answers = await Promise.all(Array.from({ length: LIMIT + 5 }, () => ask(tokenOf(watched))));
        expectAdmitted(answers, 200, LIMIT);
        expectRefused(await ask(tokenOf(watched)), 60);
        expect((await ask(tokenOf(other))).status).toBe(200);
        expect((await merchant.call('GET', '/api/v1/payments')).status).toBe(200);
      },
    );
  });
}
