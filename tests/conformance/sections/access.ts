import { describe, expect } from '@jest/globals';
import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { send, type HttpAnswer } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { changeAccess, limitsOf, passBetaDays, untilGate } from '../support/access.ts';
import { asOperator } from '../../support/operator.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { rule } from '../support/rule.ts';

/** Whether a merchant may create: the 403 of every code, and their order of precedence. Quotas are in quota.ts. */
export function accessSection(contract: Contract): void {
  describe('access to creation', () => {
    const change = (merchant: Merchant, action: string, body?: object) =>
      changeAccess(contract.stack, merchant, action, body);

    async function expectRefused(merchant: Merchant, code: CreationBlockReason): Promise<void> {
      const answer = await merchant.create();
      expect([answer.status, answer.json<{ detail: object }>()]).toEqual([
        403,
        { detail: { code, message: expect.stringMatching(/^[A-Z].* .*\w$/) }, code },
      ]);
      expect(await limitsOf(merchant)).toMatchObject({ creation_allowed: false, creation_block_reason: code });
    }

    rule(
      ['errors.403', 'errors.body.2', 'endpoint.rule1.access'],
      'each reason has its code, the first in their order is answered, and each ends only with its own remedy',
      () =>
        withinOneDay(async () => {
          const merchant = await openMerchant(contract.stack, {
            ...{ access_type: 'beta', total_limit: 1, daily_limit: 1, beta_duration_days: 1 },
          });
          await change(merchant, 'activate');
          await merchant.created({ amount: '1' });
          await passBetaDays(contract.stack, merchant, 2);
          await change(merchant, 'pause');
          await expectRefused(merchant, 'creation_paused');
          await change(merchant, 'resume');
          await expectRefused(merchant, 'beta_expired');
          await change(merchant, 'extend', { days: 2 });
          await expectRefused(merchant, 'total_quota_exhausted');
          await change(merchant, 'limits', { total_limit: 2 });
          await expectRefused(merchant, 'daily_quota_exhausted');
          await change(merchant, 'limits', { daily_limit: 2 });
          await merchant.created({ amount: '2' });
          await expectRefused(merchant, 'total_quota_exhausted');
        }),
    );

    rule(
      ['errors.403', 'errors.body.2', 'limits-record.not-activated'],
      'a beta creates nothing before its activation, and a pause takes precedence over that',
      async () => {
        const merchant = await openMerchant(contract.stack, { access_type: 'beta', total_limit: 0, daily_limit: 0 });
        await change(merchant, 'pause');
        await expectRefused(merchant, 'creation_paused');
        await change(merchant, 'resume');
        await expectRefused(merchant, 'beta_not_activated');
        await change(merchant, 'activate');
        await expectRefused(merchant, 'total_quota_exhausted');
      },
    );

    rule(
      ['endpoint.rule1.access', 'errors.403'],
      'access comes before a missing webhook, a foreign wallet and an unfinished payment',
      async () => {
        const owner = await openMerchant(contract.stack);
        await owner.created({ amount: '5' });
        const [without, paused] = await Promise.all([
          openMerchant(contract.stack, { webhook: false, total_limit: 0 }),
          openMerchant(contract.stack),
        ]);
        const open = await paused.created({ amount: '5' });
        await change(paused, 'pause');
        const answers = await Promise.all([
          without.create(),
          paused.create({ amount: '5', merchant_wallet: owner.wallet }),
          paused.create({ amount: '5' }),
        ]);
        const codes = answers.map((answer) => answer.json<{ detail: { code: string } }>().detail.code);
        expect(codes).toEqual(['total_quota_exhausted', 'creation_paused', 'creation_paused']);
        await change(paused, 'resume');
        expect(await paused.create({ amount: '5' })).toMatchObject({ status: 409 });
        expect((await paused.call('POST', `/api/v1/payments/${open.payment_id}/cancel`)).status).toBe(200);
        await paused.created({ amount: '5' });
      },
    );

    rule(
      ['auth.3', 'errors.403', 'errors.body.2'],
      'a creation that was admitted before the account was blocked is 403 account_inactive, before every other reason',
      async () => {
        const merchant = await openMerchant(contract.stack, { total_limit: 0 });
        await change(merchant, 'pause');
        await asOperator(contract.stack, 'POST', `/merchants/${merchant.merchantId}/block`, {});
        await untilGate(contract.stack, merchant.merchantId, (gate) => !gate.account_active);
        // From now on the edge answers 401. Payments decides like this about what the gateway admitted a moment earlier.
        expect((await merchant.create()).status).toBe(401);
        const admitted = await asGateway(merchant.merchantId);
        expect([admitted.status, admitted.json<object>()]).toEqual([
          403,
          { detail: { code: 'account_inactive', message: expect.any(String) }, code: 'account_inactive' },
        ]);
        await asOperator(contract.stack, 'POST', `/merchants/${merchant.merchantId}/unblock`, {});
        await untilGate(contract.stack, merchant.merchantId, (gate) => gate.account_active);
        await expectRefused(merchant, 'creation_paused');
      },
    );

    rule(
      ['auth.3', 'errors.403', 'errors.401'],
      'creations that race a block end as 201, 401 or 403 account_inactive, and none is created after it',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const creations = Array.from({ length: 12 }, (_, index) =>
          insist(() => merchant.create({ amount: `${index + 1}` }, `order-${index}`)),
        );
        const blocking = asOperator(contract.stack, 'POST', `/merchants/${merchant.merchantId}/block`, {});
        const answers = await Promise.all(creations);
        await blocking;
        for (const answer of answers) {
          expect([201, 401, 403]).toContain(answer.status);
          if (answer.status === 403) expect(answer.json()).toMatchObject({ detail: { code: 'account_inactive' } });
        }
        expect((await merchant.create({ amount: '99' })).status).toBe(401);
        await asOperator(contract.stack, 'POST', `/merchants/${merchant.merchantId}/unblock`, {});
        const { lifetime_requests_used: used } = await limitsOf(merchant);
        expect(used).toBe(answers.filter(({ status }) => status === 201).length);
      },
    );

    /** The request as the gateway forwards it to payments. */
    async function asGateway(merchantId: string): Promise<HttpAnswer> {
      const { services, chain } = contract.stack;
      return send('POST', `${services.payments.url}/internal/v1/merchants/${merchantId}/payments`, {
        headers: callAs(contract.stack, 'payments', 'api-gateway'),
        body: {
          idempotency_key: 'let-in-before',
          amount: '1',
          merchant_wallet: newWallet(),
          network: chain.network,
          description: 'Admitted before the block',
        },
      });
    }
  });
}
