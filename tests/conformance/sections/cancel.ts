import { beforeAll, describe, expect } from '@jest/globals';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { LocalChain } from '../../support/local-chain.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { createAndPay, detailsOf, expireSoon, publicStatus, untilStatus } from '../../support/paying.ts';
import { rule } from '../support/rule.ts';
import { UTC_TIMESTAMP } from '../support/timestamp.ts';

/** POST /payments/{payment_id}/cancel. */
export function cancelSection(contract: Contract): void {
  describe('cancelling a payment', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const cancel = (paymentId: string, by: Merchant = merchant) =>
      by.call('POST', `/api/v1/payments/${paymentId}/cancel`);
    const refused = { status: 409, text: '{"detail":"This payment cannot be cancelled","code":"cancel_unavailable"}' };

    rule(
      ['endpoint.cancel', 'payment.status'],
      'turns PENDING into CANCELLED with its time, and changes nothing else',
      async () => {
        const payment = await merchant.created({ amount: '21', description: 'Order 21' });
        const answer = await cancel(payment.payment_id);
        expect(answer.status).toBe(200);
        const cancelled = answer.json<Payment>();
        expect(cancelled).toEqual({
          ...payment,
          status: 'CANCELLED',
          cancelled_at: expect.stringMatching(UTC_TIMESTAMP),
        });
        expect(cancelled.cancelled_at! >= payment.created_at).toBe(true);
        expect(await detailsOf(merchant, payment)).toEqual({
          ...cancelled,
          unmatched_transfers: [],
          transfers: [],
          warnings: [],
        });
      },
    );

    rule(
      ['payment.link', 'endpoint.public-status', 'endpoint.rule2.cancel', 'errors.409'],
      'leaves the link readable as CANCELLED, frees the slot, and is 409 the second time',
      async () => {
        const payment = await merchant.created({ amount: '22' });
        expect((await cancel(payment.payment_id)).status).toBe(200);
        const { status, amount, description, expires_at: expiresAt } = await publicStatus(contract.stack, payment);
        expect([status, amount, description, expiresAt]).toEqual([
          'CANCELLED',
          '22',
          payment.description,
          payment.expires_at,
        ]);
        const details = await detailsOf(merchant, payment);
        expect(await cancel(payment.payment_id)).toMatchObject(refused);
        expect(await detailsOf(merchant, payment)).toEqual(details);
        const next = await merchant.created({ amount: '22.00' });
        expect(next.payment_id).not.toBe(payment.payment_id);
      },
    );

    rule('endpoint.rule2.cancel', 'succeeds once when ten requests come at once', async () => {
      const { payment_id: id } = await merchant.created({ amount: '23' });
      const answers = await Promise.all(Array.from({ length: 10 }, () => insist(() => cancel(id))));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    });

    rule(
      ['endpoint.rule2.cancel', 'errors.409'],
      'is the same 409 for a payment that is PAID or EXPIRED, of another merchant or unknown, and changes none',
      async () => {
        const other = await openMerchant(contract.stack);
        const [paid, expired, foreign] = await Promise.all([
          createAndPay(contract.stack, merchant, { amount: '24' }),
          merchant.created({ amount: '25' }),
          other.created({ amount: '24' }),
        ]);
        await expireSoon(contract.stack, expired);
        await untilStatus(contract.stack, expired, 'EXPIRED');
        const ids = [paid.payment_id, expired.payment_id, foreign.payment_id, newId('pay')];
        const answers = await Promise.all(ids.map((id) => cancel(id)));
        expect(answers.map(({ status, text }) => ({ status, text }))).toEqual(ids.map(() => refused));
        expect((await detailsOf(merchant, paid)).status).toBe('PAID');
        expect((await detailsOf(merchant, expired)).status).toBe('EXPIRED');
        expect(await detailsOf(other, foreign)).toEqual({
          ...foreign,
          unmatched_transfers: [],
          transfers: [],
          warnings: [],
        });
        // An expired payment no longer waits: its slot is free.
        expect((await merchant.create({ amount: '25' })).status).toBe(201);
      },
    );

    rule(
      ['endpoint.rule2.cancel', 'states.payment.polled'],
      'is 409 from CHECKING: the money is on its way',
      async () => {
        const payment = await merchant.created({ amount: '26' });
        await new LocalChain(contract.stack.chain.rpc_url).withMiningStopped(async () => {
          await payOnChain(contract.stack.chain, merchant.wallet, '26');
          await untilStatus(contract.stack, payment, 'CHECKING');
          expect(await cancel(payment.payment_id)).toMatchObject(refused);
          expect(await merchant.create({ amount: '26' })).toMatchObject({ status: 409 });
        });
        await untilStatus(contract.stack, payment, 'PAID');
      },
    );
  });
}
