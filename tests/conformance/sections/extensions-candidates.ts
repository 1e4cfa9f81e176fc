import { beforeAll, describe, expect } from '@jest/globals';
import type { FoundTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import type { Payment, UnmatchedTransfer } from '@quittance/contracts/api/payment.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { detailsOf, patience, untilStatus } from '../../support/paying.ts';
import { receivedBy, untilReceived } from '../../support/receiver.ts';
import { rule } from '../support/rule.ts';
import { UTC_TIMESTAMP } from '../support/timestamp.ts';

/** Until a payment is this old, a transfer may be a late one for the payment before. */
const FIRST_SECONDS_MS = 5_000;

const secondOf = (time: string): number => Math.floor(Date.parse(time) / 1000) * 1000;

/** Which payment gets a transfer on a shared wallet, if several are possible. */
export function extensionsCandidatesSection(contract: Contract): void {
  describe('money that may be for several payments', () => {
    let merchant: Merchant;
    /** With one amount on one wallet: a cancelled payment, the next one, and a transfer that either customer may have sent. */
    let cancelled: Payment;
    let waiting: Payment;
    let transactionId: string;

    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
      const body = { url: `https://${merchant.host}/hooks`, events: ['PAID', 'TRANSFER_UNMATCHED'] };
      expect((await merchant.call('PUT', '/api/v1/merchant/webhook', { body })).status).toBe(200);
      for (let tries = 1; tries <= 5; tries += 1) if (await payAtOnce()) return;
      throw new Error('this machine was too slow five times');
    }, 180_000);

    const both = () => [cancelled.payment_id, waiting.payment_id].toSorted();
    const pay = async (payment: Payment, amount: string) =>
      (await payOnChain(contract.stack.chain, payment.merchant_wallet, amount)).transactionHash.slice(2);
    const unmatchedOf = async (payment: Payment) => (await detailsOf(merchant, payment)).unmatched_transfers;
    const untilListed = (payment: Payment) =>
      eventually(async () => {
        const [transfer] = await unmatchedOf(payment);
        if (transfer === undefined) throw new Error('it is not listed yet');
        return transfer;
      }, patience);

    /** @returns false if a busy machine paid too late, or the clock of its chain was behind the cancellation. */
    async function payAtOnce(): Promise<boolean> {
      const order = (id: string) => ({ amount: '71', merchant_wallet: wallet, order_id: id });
      const wallet = newWallet();
      cancelled = await merchant.created(order('71 a'));
      const cancelling = await merchant.call('POST', `/api/v1/payments/${cancelled.payment_id}/cancel`);
      waiting = await merchant.created(order('71 b'));
      transactionId = await pay(waiting, '71');
      const { block_timestamp: at } = await untilListed(cancelled);
      const isAfter = Date.parse(at) >= secondOf(cancelling.json<Payment>().cancelled_at!);
      return isAfter && Date.parse(at) < secondOf(waiting.created_at) + FIRST_SECONDS_MS;
    }

    const transfer = (reason: UnmatchedTransfer['reason'], count: unknown) => ({
      ...{ transaction_id: transactionId, transaction_event_index: 0, amount: '71', reason, candidate_count: count },
      block_timestamp: expect.stringMatching(UTC_TIMESTAMP),
    });

    rule(
      ['extensions.money.ambiguous', 'extensions.money.details'],
      'pays neither of them, and is listed at each, with the number of payments that it may be for',
      async () => {
        for (const [payment, status] of [[cancelled, 'CANCELLED'] as const, [waiting, 'PENDING'] as const]) {
          const details = await detailsOf(merchant, payment);
          expect([details.status, details.unmatched_transfers]).toEqual([status, [transfer('ambiguous', 2)]]);
        }
      },
    );

    rule(
      'extensions.money.candidates',
      'is found by its transaction with all of them, and none as the only one',
      async () => {
        const answer = await merchant.call('GET', `/api/v1/merchant/transfers?transaction_id=${transactionId}`);
        const { transfers, explanation_code: code } = answer.json<FoundTransfers>();
        expect([code, transfers]).toMatchObject([
          'unmatched',
          [{ payment_id: null, reason: 'ambiguous', candidates_elsewhere: false }],
        ]);
        expect(transfers[0]!.candidates.toSorted()).toEqual(both());
      },
    );

    rule('extensions.webhooks.candidates', 'is notified once for the merchant, with all of them', async () => {
      const events = await eventually(async () => {
        const all = await untilReceived(contract.stack, merchant.host);
        const ours = all.filter(({ body }) => body.transaction_id === transactionId);
        expect(ours).toHaveLength(1);
        return ours;
      }, patience);
      const { candidates, ...event } = JSON.parse(events[0]!.raw_body) as { candidates: string[] };
      expect(candidates.toSorted()).toEqual(both());
      expect(event).toEqual({
        event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
        event_type: 'transfer.unmatched',
        payment_id: null,
        status: 'UNMATCHED',
        expected_amount: null,
        transaction_id: transactionId,
        transaction_event_index: 0,
        description: null,
        transfer: {
          ...{ amount: '71', reason: 'ambiguous', network: waiting.network },
          ...{ merchant_wallet: waiting.merchant_wallet, block_timestamp: expect.stringMatching(UTC_TIMESTAMP) },
        },
      });
    });

    const accept = (payment: Payment, id: string, more: object = {}) =>
      merchant.call('POST', `/api/v1/payments/${payment.payment_id}/accept-transfer`, {
        body: { transaction_id: id, transaction_event_index: 0, ...more },
      });
    const notAcceptable = { code: 'transfer_not_acceptable' };

    rule(
      ['extensions.money.confirm-candidates', 'extensions.money.accepted-event', 'extensions.money.details'],
      'is accepted for one of them only with their number; the event has the accepted amount, and the other one lists it',
      async () => {
        for (const wrong of [{}, { confirm_candidates: 1 }, { confirm_candidates: 3 }]) {
          const refused = await accept(waiting, transactionId, wrong);
          expect([wrong, refused.status, refused.json()]).toMatchObject([wrong, 409, notAcceptable]);
        }
        for (const wrong of [0, 21, 1.5, '2', null]) {
          const refused = await accept(waiting, transactionId, { confirm_candidates: wrong });
          expect([wrong, refused.status]).toEqual([wrong, 422]);
          expect(refused.json()).toMatchObject({ detail: [{ field: 'confirm_candidates' }] });
        }
        const answer = await eventually(async () => {
          const accepted = await accept(waiting, transactionId, { confirm_candidates: 2 });
          if (accepted.status !== 200) throw new Error(`answered ${accepted.status} ${accepted.text}`);
          return accepted.json<Payment>();
        }, patience);
        expect(answer).toMatchObject({
          status: 'PAID',
          transaction: { transaction_id: transactionId, accepted: true },
        });
        expect(await unmatchedOf(waiting)).toEqual([]);
        expect(await unmatchedOf(cancelled)).toEqual([transfer('paid_another', expect.any(Number))]);
        await eventually(async () => {
          const paid = (await receivedBy(contract.stack, merchant.host)).filter(({ body }) => body.accepted === true);
          expect(paid.map(({ body }) => body)).toMatchObject([
            { payment_id: waiting.payment_id, accepted: true, transfer: { amount: '71', reason: 'ambiguous' } },
          ]);
        }, patience);
      },
    );

    rule(
      ['extensions.money.accept-others', 'extensions.money.details'],
      'is 409 if it pays another payment or has exactly the amount of another one, and not listed there',
      async () => {
        const wallet = newWallet();
        const [other, own] = [
          await merchant.created({ amount: '72', merchant_wallet: wallet }),
          await merchant.created({ amount: '73', merchant_wallet: wallet }),
        ];
        const paying = await pay(other, '72');
        await untilStatus(contract.stack, other, 'PAID');
        const twice = await pay(other, '72');
        expect(await untilListed(other)).toMatchObject({
          transaction_id: twice,
          reason: 'duplicate',
          candidate_count: 1,
        });
        for (const id of [paying, twice]) {
          const refused = await accept(own, id);
          expect([id, refused.status, refused.json()]).toMatchObject([id, 409, notAcceptable]);
        }
        expect(await detailsOf(merchant, own)).toMatchObject({ status: 'PENDING', unmatched_transfers: [] });
      },
    );
  });
}
