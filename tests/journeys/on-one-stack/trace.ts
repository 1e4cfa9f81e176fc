import { describe, expect, test } from '@jest/globals';
import type { CollectedSpan } from '@quittance/testkit/collector.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { Shop } from '../../support/shop.ts';
import type { Shared } from './shared.ts';

/** A merchant may read 120 times a minute. */
const patience = { intervalMs: 600 };

/** The spans of a payment, each caused by the one before. Between them are spans of calls, the outbox and the broker. */
const way = [
  ['api-gateway', 'POST /api/v1/payments'],
  ['api-gateway', 'POST payments'],
  ['payments', 'POST /internal/v1/merchants/:merchant_id/payments'],
  ['payments', 'send quittance:PaymentCreated'],
  ['chain-watcher', 'process quittance:PaymentCreated:chain-watcher.payment-created'],
  ['chain-watcher', 'observe transfer confirmed'],
  ['chain-watcher', 'send quittance:TransferObserved'],
  ['payments', 'process quittance:TransferObserved:payments.transfer-observed'],
  ['payments', 'send quittance:PaymentPaid'],
  ['webhook-dispatcher', 'process quittance:PaymentPaid:webhook-dispatcher.payment-paid'],
  ['webhook-dispatcher', 'POST webhook'],
];

const consumed = way[4]!;

/** The first journey on its stack: it counts spans, and leaves the collector hanging. */
export const trace = (shared: Shared): void =>
  describe('the trace of a payment', () => {
    /** The spans from the first to the last, which are the causes of the last one in order. */
    function wayTo(spans: CollectedSpan[], last: CollectedSpan): string[][] {
      const byId = new Map(spans.map((span) => [span.spanId, span]));
      const steps: CollectedSpan[] = [];
      for (let step: CollectedSpan | undefined = last; step !== undefined; step = byId.get(step.parentSpanId)) {
        steps.unshift(step);
      }
      return steps.map(({ service, name }) => [service, name]);
    }

    async function paidAndTold(shop: Shop, paymentId: string): Promise<void> {
      await eventually(async () => {
        expect(await shop.deliveries(paymentId)).toMatchObject([{ status: 'delivered' }]);
      }, patience);
    }

    test('is continuous from the creation to the webhook, also when one watcher consumes its message and another sees the transfer', async () => {
      const { stack, collector } = shared;
      const shop = await Shop.open(stack);
      const theirs = `00-${'f'.repeat(32)}-${'f'.repeat(16)}-01`;
      const body = { amount: '12.5', merchant_wallet: shop.wallet, description: 'canary-of-the-merchant' };
      const headers = { 'Idempotency-Key': 'canary-of-the-key', traceparent: theirs };
      const created = await shop.call<{ payment_id: string; payment_url: string }>('POST', '/payments', body, headers);
      expect(created.status).toBe(201);
      await collector.find((spans) =>
        spans.find(({ service, name }) => service === consumed[0] && name === consumed[1]),
      );
      await Promise.all(stack.services.filter(({ name }) => name === 'chain-watcher').map((service) => service.kill()));
      await shop.pay('12.5');
      await paidAndTold(shop, created.body.payment_id);

      const attempt = await collector.find((spans) => spans.find(({ name }) => name === 'POST webhook'));
      await eventually(() => expect(wayTo(collector.spans(), attempt)).toEqual(way), patience);
      const trace = collector.spans().filter(({ traceId }) => traceId === attempt.traceId);
      expect(wayTo(trace, attempt)).toEqual(way);
      expect(collector.spans().filter(({ name }) => name === 'POST webhook')).toHaveLength(1);
      expect(attempt.attributes).toMatchObject({ 'server.address': shop.host });

      const token = created.body.payment_url.split('/').pop()!;
      expect((await shop.call('GET', `/payments/${token}`)).status).toBe(200);
      await collector.find((spans) => spans.find(({ name }) => name === 'GET /api/v1/payments/:public_token'));
      const exported = collector.requests.map((request) => request.body).join('\n');
      for (const secret of [shop.apiKey, token, 'canary-of-the', 'f'.repeat(32)])
        expect(exported).not.toContain(secret);
      expect(collector.requests[0]!.headers.authorization).toBe('Bearer canary-of-the-collector');
      const [webhook] = await shop.webhooks();
      expect(webhook!.headers).not.toHaveProperty('traceparent');
      expect(webhook!.headers).not.toHaveProperty('Traceparent');
    }, 180_000);

    test('is lost with a collector that hangs or refuses, but the payment is not', async () => {
      const { stack, collector } = shared;
      const shop = await Shop.open(stack);
      for (const behaviour of ['hanging', 'refusing'] as const) {
        collector.become(behaviour);
        const { body: payment } = await shop.create(behaviour === 'hanging' ? '13.1' : '13.2');
        await shop.pay(payment.amount);
        await paidAndTold(shop, payment.payment_id);
      }
      expect((await shop.webhooks()).map(({ verified }) => verified)).toEqual([true, true]);
      // The later journeys on this stack don't wait for the collector either, nor does its stop.
      collector.become('hanging');
    }, 180_000);
  });
