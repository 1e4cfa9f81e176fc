import { beforeAll, describe, expect } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { FoundTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { send } from '../../support/http.ts';
import { LocalChain } from '../../support/local-chain.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { detailsOf, patience, untilStatus } from '../../support/paying.ts';
import { receivedBy, untilReceived } from '../../support/receiver.ts';
import { rule } from '../support/rule.ts';
import { UTC_TIMESTAMP } from '../support/timestamp.ts';

type Choice = { transaction_id: string; transaction_event_index: number };

/** Transfers that pay no payment by themselves, as merchant and customer see them. */
export function extensionsMoneySection(contract: Contract): void {
  describe('an unmatched transfer', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const created = (amount: string) => merchant.created({ amount, merchant_wallet: newWallet() });
    const pay = (payment: Payment, amount: string) =>
      payOnChain(contract.stack.chain, payment.merchant_wallet, amount).then((sent) => sent.transactionHash);
    const accept = (payment: Pick<Payment, 'payment_id'>, body: object, as = merchant) =>
      as.call('POST', `/api/v1/payments/${payment.payment_id}/accept-transfer`, { body });
    const choice = (hash: string): Choice => ({ transaction_id: hash, transaction_event_index: 0 });

    /** Refused with an explanation until the transfer is confirmed; then the call succeeds. */
    const accepted = (payment: Payment, hash: string) =>
      eventually(async () => {
        const answer = await accept(payment, choice(hash));
        if (answer.status !== 200) throw new Error(`answered ${answer.status} ${answer.text}`);
        return answer;
      }, patience);

    rule(
      ['extensions.money.accept', 'extensions.money.accepted-event'],
      'can be accepted by its merchant: 200 with the payment, now PAID, also when repeated, and one event with the transfer’s amount',
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
        const { network, merchant_wallet } = payment;
        expect(event!.body).toMatchObject({
          ...{ payment_id: payment.payment_id, expected_amount: '52.90', accepted: true },
          transfer: {
            ...{ amount: '51.9', reason: 'underpaid', network, merchant_wallet },
            block_timestamp: expect.stringMatching(UTC_TIMESTAMP),
          },
        });
        expect(await receivedBy(contract.stack, merchant.host)).toHaveLength(1);
      },
    );

    rule(
      'extensions.money.accept-refusals',
      'is 409 when unknown or too little, 404 for another merchant’s payment, 422 when it is not identified correctly',
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

    const found = async (hash: string, as = merchant) => {
      const answer = await as.call('GET', `/api/v1/merchant/transfers?transaction_id=${hash}`);
      if (answer.status !== 200) throw new Error(`answered ${answer.status} ${answer.text}`);
      return answer.json<FoundTransfers>();
    };
    /** Waits until the explanation of the transaction has this code. */
    const explained = (hash: string, code: string, as = merchant) =>
      eventually(async () => {
        const answer = await found(hash, as);
        expect(answer).toMatchObject({ explanation_code: code, explanation: expect.stringMatching(/\.$/) });
        return answer;
      }, patience);

    rule(
      'extensions.money.transfers',
      'is found by its transaction: paying transfers, unmatched ones with the reason, those to other wallets, and unknown transactions',
      async () => {
        const [paid, missed] = await Promise.all([created('54'), created('55')]);
        const [paying, missing, elsewhere] = [
          await pay(paid, '54'),
          await pay(missed, '54.5'),
          await pay({ ...paid, merchant_wallet: newWallet() }, '54'),
        ];
        const { transfers } = await explained(paying.toUpperCase(), 'pays_payment');
        expect(transfers).toEqual([
          {
            network: paid.network,
            transaction_id: paying.slice(2),
            transaction_event_index: 0,
            amount: '54',
            merchant_wallet: paid.merchant_wallet,
            sender: expect.stringMatching(/^0x/),
            block_number: expect.any(Number),
            block_timestamp: expect.stringMatching(UTC_TIMESTAMP),
            state: expect.stringMatching(/^(seen|confirmed)$/),
            waiting_for: transfers[0]!.state === 'seen' ? 'confirmations' : null,
            payment_id: paid.payment_id,
            reason: null,
            candidates: [],
            candidates_elsewhere: false,
          },
        ]);
        expect((await explained(missing.slice(2), 'unmatched')).transfers).toMatchObject([
          { amount: '54.5', payment_id: missed.payment_id, reason: 'underpaid', candidates: [missed.payment_id] },
        ]);
        expect(await explained(elsewhere, 'not_your_wallet')).toMatchObject({ transfers: [] });
        expect(await explained('ab'.repeat(32), 'unknown')).toMatchObject({ transfers: [] });
      },
    );

    rule(
      'extensions.money.transfers-refusals',
      'is not shown to another merchant, who gets only what the chain shows; without a transaction id it is 422',
      async () => {
        const payment = await created('56');
        const hash = await pay(payment, '56');
        const stranger = await openMerchant(contract.stack);
        await explained(hash, 'pays_payment');
        const foreign = await explained(hash, 'not_your_wallet', stranger);
        expect(JSON.stringify(foreign)).not.toContain(payment.payment_id);
        for (const query of ['', '?transaction_id=0x12', `?transaction_id=${'z'.repeat(64)}`]) {
          const answer = await merchant.call('GET', `/api/v1/merchant/transfers${query}`);
          expect([query, answer.status]).toEqual([query, 422]);
          expect(answer.json()).toMatchObject({ detail: [{ field: 'transaction_id' }] });
        }
      },
    );

    const page = (payment: Payment, typed?: string) =>
      send('GET', `${payment.payment_url}?lang=en${typed === undefined ? '' : `&transaction_id=${typed}`}`);
    const says = async (payment: Payment, typed: string, text: string) =>
      expect(await page(payment, typed)).toMatchObject({ status: 200, text: expect.stringContaining(text) });

    rule(
      'extensions.money.customers',
      'is explained on the page to a customer who enters its transaction; the seventh look-up in a minute is 429',
      async () => {
        const [payment, other] = await Promise.all([created('57'), created('58')]);
        const chain = new LocalChain(contract.stack.chain.rpc_url);
        const paying = await chain.withMiningStopped(async () => {
          const hash = await pay(payment, '57');
          await untilStatus(contract.stack, payment, 'CHECKING');
          await says(payment, hash, 'This transfer pays this payment');
          return hash;
        });
        const elsewhere = await pay(other, '57');
        await explained(elsewhere, 'unmatched');
        await says(other, elsewhere.slice(2), 'with a different amount');
        await says(other, paying, 'went to a different address');
        await says(other, 'cd'.repeat(32), 'We did not find this transaction');
        await says(other, 'no id', 'This is not a transaction ID');
        const rest = await Promise.all(Array.from({ length: 4 }, () => page(other, paying)));
        expect(rest.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429]);
        const refused = rest.find(({ status }) => status === 429)!;
        expect(refused.text).toContain('Too many look-ups');
        expect(refused.headers['retry-after']).toMatch(/^[1-9]\d?$/);
      },
    );

    rule(
      'extensions.money.arrived',
      'is shown on the page of each payment that it may be for, and dust on none',
      async () => {
        const wallet = newWallet();
        const payment = await merchant.created({ amount: '59', merchant_wallet: wallet });
        await pay(payment, '48.25');
        await eventually(async () => expect((await page(payment)).text).toContain('48.25'), patience);
        const second = await merchant.created({ amount: '60', merchant_wallet: wallet });
        await explained(await pay(second, '58.5'), 'unmatched');
        await explained(await pay(second, '0.07'), 'unmatched');
        for (const one of [payment, second]) {
          const { text } = await page(one);
          for (const shown of ['58.5', 'has arrived at this address', 'If it was you, do not pay again'])
            expect([shown, text.includes(shown)]).toEqual([shown, true]);
          // With its unit, because a time on the page may end with these digits.
          expect(text).not.toContain('0.07 USDT');
        }
        expect((await page(second)).text).not.toContain('48.25');
      },
    );
  });
}
