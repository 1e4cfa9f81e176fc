import { beforeAll, describe, expect } from '@jest/globals';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { Payment, PaymentDetails } from '@quittance/contracts/api/payment.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { ensureToken } from '@quittance/local-backends/token/token.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { LocalChain } from '../../support/local-chain.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { detailsOf, expireSoon, patience, untilStatus } from '../../support/paying.ts';
import { receivedBy, untilReceived } from '../../support/receiver.ts';
import { rule } from '../support/rule.ts';
import { UTC_TIMESTAMP } from '../support/timestamp.ts';

type Receipt = { blockNumber: string; logs: { address: string; topics: string[]; data: string }[] };

/** What a merchant sees of real transfers on the local chain. */
export function transfersSection(contract: Contract): void {
  describe('transfers', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const payFor = (payment: Payment, amount: string) =>
      payOnChain(contract.stack.chain, payment.merchant_wallet, amount).then((sent) => sent.transactionHash.slice(2));
    const receiptOf = (transactionId: string) =>
      rpc<Receipt>(contract.stack.chain.rpc_url, 'eth_getTransactionReceipt', [`0x${transactionId}`]);
    const blockTimeOf = async (transactionId: string) => {
      const { blockNumber } = await receiptOf(transactionId);
      const block = await rpc<{ timestamp: string }>(contract.stack.chain.rpc_url, 'eth_getBlockByNumber', [
        ...[blockNumber, false],
      ]);
      return new Date(Number(block.timestamp) * 1000).toISOString();
    };
    const created = (amount: string) => merchant.created({ amount, merchant_wallet: newWallet() });

    rule(
      [
        ...(['states.payment.polled', 'endpoint.details', 'payment.status', 'events.diagnostics'] as const),
        ...(['extensions.creation.transaction', 'extensions.money.warnings'] as const),
      ],
      'take a payment from PENDING through CHECKING to PAID, with the transaction in details and lists',
      async () => {
        const payment = await created('41.5');
        const chain = new LocalChain(contract.stack.chain.rpc_url);
        const transactionId = await chain.withMiningStopped(async () => {
          const sent = await payFor(payment, '41.5');
          await untilStatus(contract.stack, payment, 'CHECKING');
          const checking = await detailsOf(merchant, payment);
          const { transaction } = checking;
          expect(checking).toEqual({
            ...payment,
            status: 'CHECKING',
            transaction,
            unmatched_transfers: [],
            transfers: [],
            warnings: [],
          });
          expect(transaction).toMatchObject({ transaction_id: sent, confirmations: 1, confirmations_required: 2 });
          expect(transaction!.waiting_for).toBe('confirmations');
          const { payments } = (await merchant.call('GET', '/api/v1/payments')).json<{ payments: Payment[] }>();
          expect(payments.find(({ payment_id: id }) => id === payment.payment_id)).toMatchObject({ transaction });
          return sent;
        });
        await untilStatus(contract.stack, payment, 'PAID');
        const paid = await detailsOf(merchant, payment);
        const { unmatched_transfers: unmatched, transfers, warnings, ...listed } = paid;
        expect([unmatched, transfers, warnings]).toEqual([[], [], []]);
        expect(listed).toEqual({
          ...payment,
          status: 'PAID',
          paid_at: expect.stringMatching(UTC_TIMESTAMP),
          transaction: {
            transaction_id: transactionId,
            transaction_event_index: 0,
            block_number: Number((await receiptOf(transactionId)).blockNumber),
            block_timestamp: await blockTimeOf(transactionId),
            // Without trailing zeros.
            amount: String(Number(payment.amount)),
            accepted: false,
            confirmations: expect.any(Number),
            confirmations_required: 2,
            waiting_for: null,
          },
        });
        expect(paid.transaction!.confirmations).toBeGreaterThanOrEqual(2);
        const read = (path: string) =>
          merchant.call('GET', path).then((answer) => answer.json<{ payments: Payment[] }>());
        const [list, page] = await Promise.all([
          read('/api/v1/payments?status=PAID'),
          read('/api/v1/payments/page?status=PAID'),
        ]);
        expect([list.payments, page.payments]).toEqual([[listed], [listed]]);
      },
    );

    rule(
      ['event.transaction_event_index', 'event.transaction_id', 'endpoint.details'],
      'of one transaction pay one payment each, distinguished by their position in the full receipt log',
      async () => {
        const owner = await openMerchant(contract.stack);
        const wallets = [newWallet(), newWallet()];
        const payments = await Promise.all(
          wallets.map((wallet) => owner.created({ amount: '42', merchant_wallet: wallet })),
        );
        const token = await ensureToken(contract.stack.chain.rpc_url);
        // Other transfers before and between them, so that a position among our own would be wrong.
        const nobody = () => ({ to: newWallet(), units: 42_000_000n });
        const ours = wallets.map((to) => ({ to, units: 42_000_000n }));
        const hash = await token.payBatch([nobody(), nobody(), ours[0]!, nobody(), ours[1]!]);
        await Promise.all(payments.map((payment) => untilStatus(contract.stack, payment, 'PAID')));
        const { logs } = await receiptOf(hash.slice(2));
        expect(logs).toHaveLength(5);
        const events = await untilReceived(contract.stack, owner.host, 2);
        for (const payment of payments) {
          const topic = payment.merchant_wallet.slice(2).toLowerCase();
          const position = logs.findIndex(({ topics }) => topics[2]!.endsWith(topic));
          const transaction = { transaction_id: hash.slice(2), transaction_event_index: position };
          expect(await detailsOf(owner, payment)).toMatchObject({ status: 'PAID', transaction });
          const event = events.find(({ body }) => body.payment_id === payment.payment_id);
          expect(event!.body).toMatchObject(transaction);
        }
      },
    );

    rule(
      ['endpoint.details', 'events.diagnostics', 'events.paid-only', 'extensions.money.details'],
      'that pay nothing have a reason (underpaid, overpaid, duplicate, late or after_cancel), and no event reports them',
      async () => {
        const [once, cancelled, expired] = await Promise.all([created('43'), created('44'), created('45')]);
        await Promise.all([
          merchant.call('POST', `/api/v1/payments/${cancelled.payment_id}/cancel`),
          expireSoon(contract.stack, expired),
        ]);
        const [underpaid, overpaid] = await Promise.all([payFor(once, '42.999999'), payFor(once, '43.000001')]);
        const paying = await payFor(once, '43');
        await untilStatus(contract.stack, once, 'PAID');
        await untilStatus(contract.stack, expired, 'EXPIRED');
        const [duplicate, afterCancel, late] = await Promise.all([
          payFor(once, '43'),
          payFor(cancelled, '44'),
          payFor(expired, '45'),
        ]);
        const transfer = (transactionId: string, amount: string, reason: string) => ({
          transaction_id: transactionId,
          transaction_event_index: 0,
          amount,
          block_timestamp: expect.stringMatching(UTC_TIMESTAMP),
          reason,
          candidate_count: 1,
        });
        const expected = new Map<Payment, object[]>([
          [
            once,
            [
              transfer(underpaid, '42.999999', 'underpaid'),
              transfer(overpaid, '43.000001', 'overpaid'),
              transfer(duplicate, '43', 'duplicate'),
            ],
          ],
          [cancelled, [transfer(afterCancel, '44', 'after_cancel')]],
          [expired, [transfer(late, '45', 'late')]],
        ]);
        for (const [payment, transfers] of expected) {
          const { unmatched_transfers: shown } = await eventually(async () => {
            const details = await detailsOf(merchant, payment);
            expect(details.unmatched_transfers).toHaveLength(transfers.length);
            return details;
          }, patience);
          expect(shown).toEqual(expect.arrayContaining(transfers));
        }
        const statuses = await Promise.all([once, cancelled, expired].map((payment) => detailsOf(merchant, payment)));
        expect(statuses.map(({ status }) => status)).toEqual(['PAID', 'CANCELLED', 'EXPIRED']);
        expect(statuses[0]!.transaction!.transaction_id).toBe(paying);
        await expectNoneBut(once, statuses);
      },
    );

    /** No event reports a transfer that paid nothing, or a payment that was cancelled or has expired. */
    async function expectNoneBut(paid: Payment, looked: PaymentDetails[]): Promise<void> {
      const ids = new Set(looked.map(({ payment_id: id }) => id));
      const told = async () => {
        const events = await receivedBy(contract.stack, merchant.host);
        return new Set(events.map(({ body }) => body.payment_id).filter((id) => ids.has(id)));
      };
      // PAID is visible before its event is sent.
      await eventually(async () => expect(await told()).toEqual(new Set([paid.payment_id])), patience);
      // The event of this later payment is sent after any other event.
      const last = await created('46');
      await payFor(last, '46');
      await eventually(async () => {
        const events = await receivedBy(contract.stack, merchant.host);
        expect(events.map(({ body }) => body.payment_id)).toContain(last.payment_id);
      }, patience);
      expect(await told()).toEqual(new Set([paid.payment_id]));
    }
  });
}
