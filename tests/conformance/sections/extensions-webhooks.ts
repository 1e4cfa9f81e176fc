import { beforeAll, describe, expect } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { webhookChoices, type WebhookSettings } from '@quittance/contracts/webhook.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { LocalChain } from '../../support/local-chain.ts';
import { asOperator } from '../../support/operator.ts';
import type { Contract } from '../conformance.test.ts';
import { inDatabase } from '../../support/database.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { deliveriesOf, expireSoon, patience, untilStatus } from '../../support/paying.ts';
import { answerWith, isGenuine, receivedBy, untilReceived, type Received } from '../../support/receiver.ts';
import { rule } from '../support/rule.ts';
import { UTC_TIMESTAMP } from '../support/timestamp.ts';

const PATH = '/api/v1/merchant/webhook';

/** Events that a merchant can choose in addition to PAID, and test events. */
export function extensionsWebhooksSection(contract: Contract): void {
  describe('the choice of events', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const put = (events?: unknown) =>
      merchant.call('PUT', PATH, {
        body: { url: `https://${merchant.host}/hooks`, ...(events !== undefined && { events }) },
      });
    const chosen = async () => (await merchant.call('GET', PATH)).json<WebhookSettings>().events;

    rule(
      'extensions.webhooks.events',
      'is only PAID at first, is in the 200 of PUT and GET, and stays until another is set',
      async () => {
        expect(await chosen()).toEqual(['PAID']);
        const events = ['PAID', 'CANCELLED', 'TRANSFER_UNMATCHED'];
        for (const given of [events, undefined]) {
          const answer = await put(given);
          expect([answer.status, answer.json<WebhookSettings>().events]).toEqual([200, events]);
        }
        expect(await chosen()).toEqual(events);
      },
    );

    rule(
      'extensions.webhooks.events-refused',
      'is 422 on the field when it is empty, has repeats, lacks PAID, or has an unknown value, and then stays unchanged',
      async () => {
        const before = await chosen();
        for (const wrong of [
          [],
          ['CANCELLED'],
          ['PAID', 'PAID'],
          ['paid'],
          ['PENDING'],
          'PAID',
          { PAID: true },
          null,
          [null],
        ]) {
          const answer = await put(wrong);
          const { detail } = answer.json<{ detail: { field: string }[] }>();
          expect([wrong, answer.status, detail.map(({ field }) => field)]).toEqual([wrong, 422, ['events']]);
        }
        expect(await chosen()).toEqual(before);
      },
    );
  });

  describe('a test event', () => {
    type Tested = { event_id: string; delivered: boolean; http_status: number | null; error_category: string | null };
    const test = (merchant: Merchant) => merchant.call('POST', `${PATH}/test`);

    rule('extensions.webhooks.test-unconfigured', 'is 409 before the endpoint is set', async () => {
      const answer = await test(await openMerchant(contract.stack, { webhook: false }));
      expect([answer.status, answer.json<{ detail: string }>().detail]).toEqual([409, 'Webhook is not configured']);
    });

    rule(
      'extensions.webhooks.test',
      'is one attempt, with the current key, and 200 with its result, whether the endpoint accepted it or not',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const { signing_key: key } = (await merchant.call('POST', `${PATH}/rotate-key`)).json<{
          signing_key: string;
        }>();
        const delivered = await test(merchant);
        await answerWith(contract.stack, merchant.host, { status: 503 });
        const refused = await test(merchant);
        expect([delivered.status, refused.status]).toEqual([200, 200]);
        const common = { event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/), duration_ms: expect.any(Number) };
        expect(delivered.json()).toEqual({ ...common, delivered: true, http_status: 200, error_category: null });
        expect(refused.json()).toEqual({ ...common, delivered: false, http_status: 503, error_category: 'http_5xx' });
        const received = await receivedBy(contract.stack, merchant.host);
        expect(received).toHaveLength(2);
        const [first] = received as [Received];
        const { event_id: id } = delivered.json<Tested>();
        expect(first.raw_body).toBe(
          `{"event_id":"${id}","event_type":"test","payment_id":null,"status":"TEST","expected_amount":"0",` +
            '"transaction_id":null,"transaction_event_index":null,"description":"Test event"}',
        );
        expect(first.headers['x-service-event-id']).toBe(id);
        expect(isGenuine(first, key)).toBe(true);
      },
    );

    rule(
      'extensions.webhooks.test-limit',
      'counts with the webhook settings: the eleventh of both is 429',
      async () => {
        const merchant = await openMerchant(contract.stack, { webhook: false });
        for (let n = 0; n < 10; n += 1) expect((await test(merchant)).status).toBe(409);
        const [tested, rotated] = await Promise.all([test(merchant), merchant.call('POST', `${PATH}/rotate-key`)]);
        expect([tested.status, rotated.status]).toEqual([429, 429]);
      },
    );
  });

  describe('the events of a merchant that chose all', () => {
    type Event = Record<string, unknown> & { event_id: string; event_type?: string; payment_id: string | null };
    let merchant: Merchant;
    let paid: Payment;
    let cancelled: Payment;
    let expired: Payment;
    let underpaid: Payment;
    let short: Payment;
    let events: Event[];
    const wallet = newWallet;
    const eventsOf = ({ payment_id: id }: Payment) => events.filter((event) => event.payment_id === id);
    const extras = { order_id: 'A-7', metadata: { cart: '9' }, requested_amount: '61.50' };
    const unknownFields = { transaction_id: null, transaction_event_index: null };

    beforeAll(async () => {
      const { stack } = contract;
      merchant = await openMerchant(stack);
      const choice = { url: `https://${merchant.host}/hooks`, events: webhookChoices };
      expect((await merchant.call('PUT', PATH, { body: choice })).status).toBe(200);
      const { requested_amount: amount, ...own } = extras;
      paid = await merchant.created({ amount, ...own, unique_amount: true });
      cancelled = await merchant.created({ amount: '62', merchant_wallet: wallet() });
      await merchant.call('POST', `/api/v1/payments/${cancelled.payment_id}/cancel`);
      await new LocalChain(stack.chain.rpc_url).withMiningStopped(async () => {
        await payOnChain(stack.chain, paid.merchant_wallet, paid.amount);
        await untilReceived(stack, merchant.host, 2);
      });
      await untilStatus(stack, paid, 'PAID');
      expired = await merchant.created({ amount: '63', merchant_wallet: wallet() });
      await expireSoon(stack, expired);
      underpaid = await merchant.created({ amount: '64', merchant_wallet: wallet() });
      await payOnChain(stack.chain, underpaid.merchant_wallet, '63.9');
      short = await merchant.created({ amount: '69', merchant_wallet: wallet() });
      await payOnChain(stack.chain, short.merchant_wallet, '68.5');
      await untilReceived(stack, merchant.host, 6);
      await expireSoon(stack, short);
      events = (await untilReceived(stack, merchant.host, 7)).map(({ raw_body: body }) => JSON.parse(body) as Event);
    }, 180_000);

    rule(
      'extensions.webhooks.paid',
      'report PAID once, with order_id, metadata and the requested price after the seven fields, and no type',
      async () => {
        const [event, ...others] = events.filter(({ status }) => status === 'PAID');
        expect(others).toEqual([]);
        const seven = ['event_id', 'payment_id', 'status', 'expected_amount', 'transaction_id'];
        const rest = ['transaction_event_index', 'description', 'order_id', 'metadata', 'requested_amount'];
        expect(Object.keys(event!)).toEqual([...seven, ...rest]);
        expect(event).toMatchObject({ payment_id: paid.payment_id, expected_amount: paid.amount, ...extras });
      },
    );

    rule(
      'extensions.webhooks.notices',
      'report once each that a payment is CHECKING, with the transfer, that it is CANCELLED, and that it has EXPIRED',
      async () => {
        const [pay, check] = eventsOf(paid).toSorted((a, b) => (a['status']! > b['status']! ? -1 : 1));
        expect(check).toEqual({
          event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
          event_type: 'payment.checking',
          payment_id: paid.payment_id,
          status: 'CHECKING',
          expected_amount: paid.amount,
          transaction_id: pay!['transaction_id'],
          transaction_event_index: pay!['transaction_event_index'],
          description: paid.description,
          ...extras,
        });
        for (const [payment, word] of [[cancelled, 'cancelled'] as const, [expired, 'expired'] as const]) {
          expect(eventsOf(payment)).toEqual([
            {
              event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
              event_type: `payment.${word}`,
              payment_id: payment.payment_id,
              status: word.toUpperCase(),
              expected_amount: payment.amount,
              ...unknownFields,
              description: payment.description,
            },
          ]);
        }
      },
    );

    rule(
      'extensions.webhooks.unmatched',
      'report once that a confirmed transfer is unmatched, with the only payment that it may be for',
      async () => {
        const transfer = { amount: '63.9', reason: 'underpaid', network: underpaid.network };
        expect(eventsOf(underpaid)).toEqual([
          {
            event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
            event_type: 'transfer.unmatched',
            payment_id: underpaid.payment_id,
            status: 'UNMATCHED',
            expected_amount: '64',
            transaction_id: expect.stringMatching(/^[0-9a-f]{64}$/),
            transaction_event_index: expect.any(Number),
            description: underpaid.description,
            candidates: [underpaid.payment_id],
            transfer: {
              ...transfer,
              merchant_wallet: underpaid.merchant_wallet,
              block_timestamp: expect.stringMatching(UTC_TIMESTAMP),
            },
          },
        ]);
      },
    );

    rule(
      'extensions.webhooks.expired-candidates',
      'report for an expired payment how many unmatched transfers may be for it, and nothing if there are none',
      async () => {
        const [expiry] = eventsOf(short).filter(({ event_type: type }) => type === 'payment.expired');
        expect(expiry).toMatchObject({ status: 'EXPIRED', candidate_transfers: 1 });
      },
    );

    rule('extensions.webhooks.records', 'are listed PAID first, each with its type, null for PAID', async () => {
      const records = await deliveriesOf(merchant, paid);
      expect(records.map(({ event_type: type }) => type)).toEqual([null, 'payment.checking']);
      const told = eventsOf(paid).map(({ event_id: id }) => id);
      expect(records.map(({ event_id: id }) => id).toSorted()).toEqual(told.toSorted());
    });

    rule(
      'extensions.webhooks.superseded',
      'that PAID overtakes are not sent: failed with superseded, and not sent again by a retry',
      async () => {
        const { stack } = contract;
        const other = await openMerchant(stack);
        await other.call('PUT', PATH, { body: { url: `https://${other.host}/hooks`, events: ['PAID', 'CHECKING'] } });
        await answerWith(stack, other.host, { status: 503 });
        const payment = await other.created({ amount: '69.5' });
        await new LocalChain(stack.chain.rpc_url).withMiningStopped(async () => {
          await payOnChain(stack.chain, other.wallet, '69.5');
          await untilReceived(stack, other.host);
        });
        await untilStatus(stack, payment, 'PAID');
        const [notice] = await eventually(async () => {
          const records = (await deliveriesOf(other, payment)).filter(({ event_type: type }) => type !== null);
          expect(records).toMatchObject([{ status: 'failed', error_category: 'superseded', next_attempt_at: null }]);
          return records;
        }, patience);
        const answer = await other.call('POST', `${PATH}/events/${notice!.event_id}/retry`);
        expect([answer.status, answer.json()]).toMatchObject([409, { code: 'event_not_retryable' }]);
        await answerWith(stack, other.host, { status: 200 });
        await eventually(async () => {
          const [record] = await deliveriesOf(other, payment);
          expect(record).toMatchObject({ event_type: null, status: 'delivered' });
        }, patience);
        const statuses: string[] = (await receivedBy(stack, other.host)).map(({ body }) => body.status);
        expect(statuses.lastIndexOf('CHECKING')).toBeLessThan(statuses.indexOf('PAID'));
      },
    );

    rule('extensions.webhooks.paid-first', 'that wait together are sent PAID first', async () => {
      const { stack } = contract;
      const other = await openMerchant(stack);
      const body = { url: `https://${other.host}/hooks`, events: ['PAID', 'EXPIRED'] };
      await other.call('PUT', PATH, { body });
      const payments = await Promise.all(['65', '66', '67'].map((amount) => other.created({ amount })));
      const unpaid = await other.created({ amount: '68' });
      await asOperator(stack, 'POST', `/merchants/${other.merchantId}/block`, {});
      const waiting = (count: number, query: string) =>
        eventually(
          async () => expect((await inDatabase(stack, query, [other.merchantId])).length).toBe(count),
          patience,
        );
      await waiting(2, `select 1 from webhooks.lane where merchant_id like $1 || '%' and held`);
      await expireSoon(stack, unpaid);
      for (const { amount } of payments) await payOnChain(stack.chain, other.wallet, amount);
      await waiting(4, `select 1 from webhooks.event where merchant_id = $1`);
      // Until the first attempt at a new merchant has ended, each of two dispatchers makes one attempt, so a third PAID event waits.
      await answerWith(stack, other.host, { delay_ms: 2_000 });
      await asOperator(stack, 'POST', `/merchants/${other.merchantId}/unblock`, {});
      const received = await untilReceived(stack, other.host, 4);
      const statuses = received.map(({ raw_body: raw }) => (JSON.parse(raw) as { status: string }).status);
      expect(statuses.toSorted()).toEqual(['EXPIRED', 'PAID', 'PAID', 'PAID']);
      expect(statuses.slice(0, 2)).toEqual(['PAID', 'PAID']);
    });
  });
}
