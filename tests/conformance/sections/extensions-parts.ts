import { beforeAll, describe, expect } from '@jest/globals';
import type { Payment, PaymentDetails } from '@quittance/contracts/api/payment.ts';
import type { FoundTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Contract } from '../conformance.test.ts';
import { send } from '../../support/http.ts';
import { LocalChain } from '../../support/local-chain.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { createAndPay, detailsOf, patience, untilStatus } from '../../support/paying.ts';
import { receivedBy, untilReceived } from '../../support/receiver.ts';
import { cancel, fromPool, makePool, newWallets } from '../support/pools.ts';
import { rule } from '../support/rule.ts';
import { UTC_TIMESTAMP } from '../support/timestamp.ts';

/** What counts at an address that one payment has for itself, and who sees it. */
export function extensionsPartsSection(contract: Contract): void {
  const untilDetails = (merchant: Merchant, payment: Payment, expected: object) =>
    eventually(async () => {
      const details = await detailsOf(merchant, payment);
      expect(details).toMatchObject(expected);
      return details;
    }, patience);
  const pay = async ({ merchant_wallet: wallet }: Payment, amount: string) =>
    (await payOnChain(contract.stack.chain, wallet, amount)).transactionHash.slice(2);
  const eventsOf = async (merchant: Merchant, { payment_id: id }: Payment) =>
    (await receivedBy(contract.stack, merchant.host)).filter(({ body }) => body.payment_id === id);

  describe('extensions: money in parts at an address of its own', () => {
    let merchant: Merchant;
    let ids: string[];
    /** After two parts, while the third is seen, and after it. */
    let partly: PaymentDetails;
    let checking: PaymentDetails;
    let paid: PaymentDetails;
    let pages: { waiting: string; partly: string };

    const pageOf = async ({ payment_url: url }: Payment) => (await send('GET', `${url}?lang=en`)).text;
    const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');

    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
      await makePool(merchant, { network: contract.stack.chain.network, addresses: newWallets(1) });
      const payment = await merchant.created({ ...fromPool(), amount: '30.00' });
      const waiting = await pageOf(payment);
      ids = [await pay(payment, '10.5'), await pay(payment, '12')];
      partly = await untilDetails(merchant, payment, { received_amount: '22.5' });
      pages = { waiting, partly: await pageOf(payment) };
      await new LocalChain(contract.stack.chain.rpc_url).withMiningStopped(async () => {
        ids.push(await pay(payment, '9'));
        checking = await untilDetails(merchant, payment, { status: 'CHECKING' });
      });
      paid = await untilDetails(merchant, payment, { status: 'PAID' });
      await untilReceived(contract.stack, merchant.host);
    }, 240_000);

    const transfer = (position: number, amount: string, confirmed = true) => ({
      ...{ transaction_id: ids[position], transaction_event_index: 0, amount, confirmed, counts: true },
      block_timestamp: expect.stringMatching(UTC_TIMESTAMP),
    });
    const both = () => [transfer(0, '10.5'), transfer(1, '12')];

    rule(
      ['extensions.dedicated.parts', 'extensions.dedicated.transfers', 'extensions.dedicated.overpaid'],
      'counts together: CHECKING when what is seen suffices, PAID by the transfer that completes it, and more is accepted',
      async () => {
        const none = { unmatched_transfers: [] };
        const waits = { status: 'PENDING', received_amount: '22.5', transaction: null };
        expect(partly).toMatchObject({ ...waits, ...none, transfers: both() });
        const third = { transaction_id: ids[2], transaction_event_index: 0, amount: '9', accepted: false };
        const seen = { status: 'CHECKING', received_amount: '22.5', transaction: third };
        expect(checking).toMatchObject({ ...seen, ...none, transfers: [...both(), transfer(2, '9', false)] });
        const full = { status: 'PAID', amount: '30.00', received_amount: '31.5', transaction: third };
        expect(paid).toMatchObject({ ...full, ...none, transfers: [...both(), transfer(2, '9')] });
      },
    );

    rule(
      'extensions.dedicated.event',
      'is in the one PAID event, with the sum and each transfer in the order of the chain',
      async () => {
        const events = await eventsOf(merchant, paid);
        expect(events.map(({ body, verified }) => [verified, body])).toMatchObject([
          [
            true,
            {
              ...{ payment_id: paid.payment_id, status: 'PAID', expected_amount: '30.00', received_amount: '31.5' },
              ...{ transaction_id: ids[2], transaction_event_index: 0 },
            },
          ],
        ]);
        expect(events[0]!.body.transfers).toEqual(
          ['10.5', '12', '9'].map((amount, position) => ({
            ...{ transaction_id: ids[position], transaction_event_index: 0, amount },
          })),
        );
      },
    );

    rule(
      'extensions.dedicated.page',
      'is on the page with what is missing, as text, to copy and for wallet apps; nothing there warns of odd digits',
      async () => {
        expect(textOf(pages.waiting)).toContain('Send 30.00 USDT');
        expect(textOf(pages.partly)).toContain('Received 22.5 of 30.00 USDT');
        expect(textOf(pages.partly)).toContain('Send the rest, 7.5 USDT, to the same address');
        expect(pages.partly).toContain('data-copy="7.5"');
        expect(pages.partly).toMatch(/transfer\?address=0x[0-9a-fA-F]{40}&amp;uint256=7500000"/);
        for (const page of Object.values(pages)) {
          expect(page).not.toContain('last-digits');
          expect(textOf(page)).not.toContain('in one transfer');
        }
        expect(textOf(await pageOf(paid))).toContain('31.5 instead of 30.00 USDT');
      },
    );

    rule(
      'extensions.dedicated.found',
      'is found by each of its transactions, all of which pay the payment',
      async () => {
        for (const id of ids) {
          const answer = await merchant.call('GET', `/api/v1/merchant/transfers?transaction_id=${id}`);
          expect([id, answer.json<FoundTransfers>()]).toMatchObject([
            id,
            {
              explanation_code: 'pays_payment',
              transfers: [{ transaction_id: id, payment_id: paid.payment_id, state: 'confirmed', reason: null }],
            },
          ]);
        }
      },
    );

    rule(
      'extensions.dedicated.export',
      'is in the export, whose columns have dedicated, derivation_index, received_amount and accept_from_percent',
      async () => {
        const get = async (format: string) =>
          (await merchant.call('GET', `/api/v1/payments/export?format=${format}`)).text;
        const { unmatched_transfers: _, warnings: _none, transfers: _parts, ...payment } = paid;
        expect(JSON.parse((await get('ndjson')).split('\n')[0]!)).toEqual(payment);
        const [head, row] = (await get('csv')).split('\r\n').map((line) => line.split(','));
        // None of these cells has a comma, and none before them.
        const cell = (name: string) => row![head!.indexOf(name)];
        const names = ['amount', 'transaction_amount', 'dedicated', 'derivation_index', 'received_amount'];
        expect(names.map(cell)).toEqual(['30.00', '9', 'true', '', '31.5']);
        expect(head).toContain('accept_from_percent');
      },
    );

    rule('extensions.dedicated.report', 'is in the report’s paid_amount with everything that arrived', async () => {
      for (const by of ['payment', 'chain']) {
        const days = [paid.created_at, paid.paid_at!, paid.transaction!.block_timestamp].map((at) => at.slice(0, 10));
        const [from] = days.toSorted();
        const to = days.toSorted().at(-1)!;
        const answer = await merchant.call('GET', `/api/v1/merchant/report?from=${from}&to=${to}&group=day&by=${by}`);
        expect([by, answer.json()]).toMatchObject([by, { totals: { created: 1, paid: 1, paid_amount: '31.5' } }]);
      }
    });

    rule(
      ['extensions.dedicated.overpaid', 'extensions.dedicated.event'],
      'is shown as received and overpaid when it arrives after PAID, and the event is still sent once',
      async () => {
        const id = await pay(paid, '1');
        const more = await untilDetails(merchant, paid, { received_amount: '32.5' });
        expect(more.unmatched_transfers).toMatchObject([{ transaction_id: id, amount: '1', reason: 'overpaid' }]);
        expect(more.transfers.map(({ amount, counts }) => [amount, counts])).toEqual([
          ...['10.5', '12', '9'].map((amount) => [amount, true]),
          ['1', false],
        ]);
        expect(more.transaction).toMatchObject({ transaction_id: ids[2] });
        expect(await eventsOf(merchant, paid)).toHaveLength(1);
      },
    );
  });

  describe('extensions: how much is enough at an address of its own', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const alone = (body: object = {}) =>
      merchant.created({ merchant_wallet: newWallet(), dedicated_wallet: true, ...body });

    rule(
      'extensions.dedicated.enough',
      'is accept_from_percent of the amount, to the last unit; the event has what arrived',
      async () => {
        const payment = await alone({ amount: '20', accept_from_percent: 90 });
        expect(payment.accept_from_percent).toBe(90);
        await pay(payment, '17.999999');
        await untilDetails(merchant, payment, { status: 'PENDING', received_amount: '17.999999' });
        await pay(payment, '0.000001');
        await untilDetails(merchant, payment, { status: 'PAID', received_amount: '18', unmatched_transfers: [] });
        const [event] = await eventually(async () => {
          const events = await eventsOf(merchant, payment);
          expect(events).toHaveLength(1);
          return events;
        }, patience);
        expect(event!.body).toMatchObject({ expected_amount: '20', received_amount: '18', transfers: [{}, {}] });
      },
    );

    rule(
      'extensions.dedicated.accept',
      'can be decided by the merchant: accepting one transfer takes all of them, and the least part holds for their sum',
      async () => {
        const payment = await alone({ amount: '20' });
        const first = await pay(payment, '17');
        await untilDetails(merchant, payment, { received_amount: '17' });
        await cancel(merchant, payment);
        await untilDetails(merchant, payment, { status: 'CANCELLED', unmatched_transfers: [{ reason: 'underpaid' }] });
        const accept = (id: string) =>
          merchant.call('POST', `/api/v1/payments/${payment.payment_id}/accept-transfer`, {
            body: { transaction_id: id, transaction_event_index: 0 },
          });
        const refused = await accept(first);
        expect([refused.status, refused.json()]).toMatchObject([409, { code: 'transfer_not_acceptable' }]);
        const late = await pay(payment, '1.5');
        await untilDetails(merchant, payment, { status: 'CANCELLED', received_amount: '18.5' });
        const answer = await accept(late);
        expect([answer.status, answer.json()]).toMatchObject([
          200,
          { status: 'PAID', received_amount: '18.5', transaction: { transaction_id: late, accepted: true } },
        ]);
        expect((await accept(late)).text).toBe(answer.text);
        const { transfers, unmatched_transfers: unmatched } = await detailsOf(merchant, payment);
        expect([transfers.map(({ counts }) => counts), unmatched]).toEqual([[true, true], []]);
        await eventually(async () => {
          const events = (await eventsOf(merchant, payment)).map(({ body }) => body);
          const both = [{ transaction_id: first }, { transaction_id: late }];
          expect(events).toMatchObject([{ accepted: true, received_amount: '18.5', transfers: both }]);
          expect(events).toHaveLength(1);
        }, patience);
      },
    );

    rule(
      ['extensions.dedicated.transfers', 'extensions.dedicated.parts'],
      'is the exact amount on a shared wallet, where received_amount is null and transfers are empty',
      async () => {
        const payment = await createAndPay(contract.stack, merchant, { amount: '21' });
        await untilStatus(contract.stack, payment, 'PAID');
        const shared = { dedicated: false, derivation_index: null, received_amount: null, transfers: [] };
        expect(await detailsOf(merchant, payment)).toMatchObject({ status: 'PAID', ...shared });
        await eventually(async () => expect(await eventsOf(merchant, payment)).toHaveLength(1), patience);
        const [event] = await eventsOf(merchant, payment);
        expect(Object.keys(event!.body)).not.toContain('received_amount');
        expect(Object.keys(event!.body)).not.toContain('transfers');
      },
    );
  });
}
