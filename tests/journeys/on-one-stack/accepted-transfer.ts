import { describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { Shop } from '../../support/shop.ts';
import { runOps } from './run-ops.ts';
import type { Shared } from './shared.ts';

/** A merchant may read 120 times a minute. */
const patience = { intervalMs: 600 };

export const acceptedTransfer = (shared: Shared): void =>
  describe('accepting a transfer', () => {
    const ops = (...words: string[]) => runOps(shared, ...words);

    test('an underpaid payment that an operator accepts is PAID, and the merchant gets one webhook with the original amount', async () => {
      const shop = await Shop.open(shared.stack);
      const { body: payment } = await shop.create('10.50');
      const { transactionHash } = await shop.pay('9.5');
      const [unmatched] = await eventually(async () => {
        const details = await shop.details(payment.payment_id);
        expect(details).toMatchObject({
          status: 'PENDING',
          unmatched_transfers: [{ amount: '9.5', reason: 'underpaid' }],
        });
        return details.unmatched_transfers;
      }, patience);
      expect(unmatched!.transaction_id).toBe(transactionHash.slice(2));

      const accept = ['transfer', 'accept', transactionHash, String(unmatched!.transaction_event_index), '--json'];
      const author = ['--actor', 'olga', '--reason', 'a regular customer'];
      // It is on the chain, but may not have enough confirmations yet. Then the call is refused with an explanation and may be repeated.
      const accepted = await eventually(async () => {
        const result = await ops(...accept, '--payment', payment.payment_id, ...author);
        expect(result).toMatchObject({ code: 0, stderr: '' });
        return JSON.parse(result.stdout) as object;
      }, patience);
      expect(accepted).toMatchObject({
        payment_id: payment.payment_id,
        status_before: 'PENDING',
        expected_amount: '10.50',
        amount: '9.5',
        unmatched_reason: 'underpaid',
        actor: 'olga',
        reason: 'a regular customer',
      });

      const paid = await shop.details(payment.payment_id);
      expect(paid).toMatchObject({
        status: 'PAID',
        amount: '10.50',
        transaction: { transaction_id: transactionHash.slice(2) },
        unmatched_transfers: [],
      });
      await eventually(async () => {
        expect(await shop.deliveries(payment.payment_id)).toMatchObject([{ status: 'delivered' }]);
      }, patience);

      // An operator who lost the answer can repeat the call, and a mistake is refused.
      const again = await ops(...accept, '--payment', payment.payment_id, ...author);
      expect(JSON.parse(again.stdout)).toEqual(accepted);
      const { body: other } = await shop.create('9.75');
      const refused = await ops(...accept, '--payment', other.payment_id);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('pays another payment') });

      // A payment that is paid later gets its webhook; by then any earlier webhook would have arrived.
      await shop.pay('9.75');
      await eventually(async () => {
        expect((await shop.webhooks()).some(({ body }) => body.payment_id === other.payment_id)).toBe(true);
      }, patience);
      const received = (await shop.webhooks()).filter(({ body }) => body.payment_id === payment.payment_id);
      expect(received).toMatchObject([
        {
          verified: true,
          body: {
            payment_id: payment.payment_id,
            status: 'PAID',
            expected_amount: '10.50',
            transaction_id: transactionHash.slice(2),
            transaction_event_index: unmatched!.transaction_event_index,
          },
        },
      ]);
      expect(JSON.parse((await ops('incident', 'list', '--json')).stdout)).toMatchObject({ incidents: [], silent: [] });
    }, 180_000);
  });
