import { beforeAll, describe, expect } from '@jest/globals';
import type { Payment } from '@quittance/contracts/payment.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { Wallet } from 'ethers';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../support/merchant.ts';
import { detailsOf, patience } from '../support/paying.ts';
import { receivedBy, untilReceived } from '../support/receiver.ts';
import { rule } from '../support/rule.ts';

type Choice = { transaction_id: string; transaction_event_index: number };

/** Money that pays nothing by itself, as the merchant and the customer find it again. */
export function extensionsMoneySection(contract: Contract): void {
  describe('money that pays nothing', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const created = (amount: string) => merchant.created({ amount, merchant_wallet: Wallet.createRandom().address });
    const pay = (payment: Payment, amount: string) =>
      payOnChain(contract.stack.chain, payment.merchant_wallet, amount).then((sent) => sent.transactionHash);
    const accept = (payment: Pick<Payment, 'payment_id'>, body: object, as = merchant) =>
      as.call('POST', `/api/v1/payments/${payment.payment_id}/accept-transfer`, { body });
    const choice = (hash: string): Choice => ({ transaction_id: hash, transaction_event_index: 0 });

    /** Until the transfer is confirmed it is refused with a sentence, and may be tried again. */
    const accepted = (payment: Payment, hash: string) =>
      eventually(async () => {
        const answer = await accept(payment, choice(hash));
        if (answer.status !== 200) throw new Error(`answered ${answer.status} ${answer.text}`);
        return answer;
      }, patience);

    rule(
      'extensions.money.accept',
      'is accepted by its merchant: 200 with the payment, now PAID, as often as asked, and one event with its own amount',
      async () => {
        const payment = await created('52.90');
        const hash = await pay(payment, '51.9');
        const answer = await accepted(payment, hash);
        expect(answer.json<Payment>()).toMatchObject({
          payment_id: payment.payment_id,
          status: 'PAID',
          amount: '52.90',
          transaction: { transaction_id: hash.slice(2), transaction_event_index: 0 },
        });
        const again = await accept(payment, choice(hash.slice(2).toUpperCase()));
        expect([again.status, again.text]).toEqual([200, answer.text]);
        expect(await detailsOf(merchant, payment)).toMatchObject({ status: 'PAID', unmatched_transfers: [] });
        const [event] = await untilReceived(contract.stack, merchant.host);
        expect(event!.body).toMatchObject({ payment_id: payment.payment_id, expected_amount: '52.90' });
        expect(await receivedBy(contract.stack, merchant.host)).toHaveLength(1);
      },
    );

    rule(
      'extensions.money.accept-refusals',
      'is 409 when unknown or too little, 404 for another merchant’s payment, 422 when it is not named as it must be',
      async () => {
        const payment = await created('53');
        const hash = await pay(payment, '47.699999');
        await eventually(
          async () => expect((await detailsOf(merchant, payment)).unmatched_transfers).toHaveLength(1),
          patience,
        );
        const stranger = await openMerchant(contract.stack);
        const answers = await Promise.all([
          accept(payment, choice(hash)),
          accept(payment, { ...choice(hash), transaction_event_index: 7 }),
          accept(payment, choice(hash), stranger),
          accept({ payment_id: newId('pay') }, choice(hash)),
          accept(payment, { transaction_id: hash }),
          accept(payment, { transaction_id: 'x', transaction_event_index: -1 }),
        ]);
        expect(answers.map(({ status }) => status)).toEqual([409, 409, 404, 404, 422, 422]);
        expect(answers[2].text).toBe(answers[3].text);
        expect(await detailsOf(merchant, payment)).toMatchObject({ status: 'PENDING', transaction: null });
      },
    );
  });
}
