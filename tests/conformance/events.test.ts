import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { send } from '../support/http.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { limitsOf, untilGate } from './support/access.ts';
import { inDatabase } from '../support/database.ts';
import { asOperator } from '../support/operator.ts';
import { openMerchant, type Merchant } from '../support/merchant.ts';
import { createAndPay, deliveriesOf, detailsOf, patience, untilRecord, untilStatus } from '../support/paying.ts';
import { answerWith, isGenuine, receivedBy, untilReceived } from '../support/receiver.ts';
import { rule } from './support/rule.ts';
import { UTC_TIMESTAMP } from './support/timestamp.ts';

/** Eight retries in a few seconds; the last ones show that the delay grows. */
const DELAYS_SECONDS = [0, 0, 0, 0, 1, 1, 2, 3];
/** Each delay is randomly shortened or extended by up to a fifth. */
const SHORTEST = 0.8;

type Case = { merchant: Merchant; payment: Payment };

/** Events that fail permanently, on a separate stack with short retry delays. */
describe('an event that cannot be delivered', () => {
  let stack: JourneyStack;
  const cases = {} as Record<'http_5xx' | 'http_4xx' | 'redirect' | 'connection_reset', Case>;
  const records = {} as Record<keyof typeof cases, DeliveryRecord>;

  beforeAll(async () => {
    stack = await journeyStack({
      sharesBroker: true,
      settings: { WEBHOOK_RETRY_DELAYS_SECONDS: DELAYS_SECONDS.join(',') },
    });
    const behaviours = {
      http_5xx: { status: 503 },
      http_4xx: { status: 410 },
      redirect: { status: 307, headers: { location: 'https://redirect-target.example.com/' } },
      connection_reset: { reset: true },
    };
    await Promise.all(
      Object.entries(behaviours).map(async ([name, behaviour]) => {
        const merchant = await openMerchant(stack.file);
        await answerWith(stack.file, merchant.host, behaviour);
        const failing = { merchant, payment: await createAndPay(stack.file, merchant) };
        cases[name as keyof typeof cases] = failing;
        records[name as keyof typeof cases] = await untilRecord(failing, ({ status }) => status === 'failed');
      }),
    );
  });

  afterAll(() => stack.close(), 180_000);

  const retry = (merchant: Merchant, eventId: string) =>
    merchant.call('POST', `/api/v1/merchant/webhook/events/${eventId}/retry`);

  /** An operator's request directly to the dispatcher. */
  async function atDispatcher<T>(method: string, path: string, body?: object): Promise<T> {
    const url = `${stack.file.services['webhook-dispatcher'].url}/internal/v1${path}`;
    const answer = await send(method, url, { headers: callAs(stack.file, 'webhook-dispatcher'), body });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}`);
    return answer.json<T>();
  }

  rule(
    [
      ...(['events.delivery.3', 'events.delivery.5', 'limits.size.attempts', 'event.event_id'] as const),
      ...(['events.header.timestamp', 'events.header.event-id', 'events.verification.4'] as const),
    ],
    'is sent nine times with growing delays, each time the same event with a new timestamp and signature',
    async () => {
      const webhooks = await receivedBy(stack.file, cases.http_5xx.merchant.host);
      expect(webhooks).toHaveLength(1 + DELAYS_SECONDS.length);
      expect(new Set(webhooks.map(({ raw_body: body }) => body)).size).toBe(1);
      const eventId = records.http_5xx.event_id;
      expect(webhooks.map(({ headers }) => headers['x-service-event-id'])).toEqual(webhooks.map(() => eventId));
      expect(webhooks.map(({ verified }) => verified)).toEqual(webhooks.map(() => true));
      const arrivals = webhooks.map(({ received_at: at }) => Date.parse(at));
      for (const [index, delaySeconds] of DELAYS_SECONDS.entries()) {
        // Both times are truncated to milliseconds.
        const gapMs = arrivals[index + 1]! - arrivals[index]! + 2;
        expect(gapMs).toBeGreaterThanOrEqual(delaySeconds * SHORTEST * 1000);
      }
      // Each is signed for a second between the previous arrival and its own.
      for (const [index, { headers }] of webhooks.entries()) {
        const [before = 0, own] = [arrivals[index - 1], arrivals[index]!].map((ms) => ms && Math.floor(ms / 1000));
        const signedFor = Number(headers['x-service-timestamp']);
        expect([index, before <= signedFor && signedFor <= own!]).toEqual([index, true]);
      }
    },
  );

  rule(
    ['delivery.fields', 'endpoint.webhooks', 'events.diagnostics', 'states.delivery.delivered'],
    'is failed after that, with the category of its last failure and no further attempt',
    async () => {
      for (const [category, record] of Object.entries(records)) {
        const time: unknown = expect.stringMatching(UTC_TIMESTAMP);
        expect(record).toEqual({
          event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
          payment_id: cases[category as keyof typeof cases].payment.payment_id,
          status: 'failed',
          attempts: 9,
          created_at: time,
          last_attempt_at: time,
          next_attempt_at: null,
          delivered_at: null,
          error_category: category,
          event_type: null,
        });
      }
      expect(await receivedBy(stack.file, 'redirect-target.example.com')).toEqual([]);
    },
  );

  rule('states.delivery.payment-stays', 'leaves its payment PAID', async () => {
    for (const { merchant, payment } of Object.values(cases)) {
      expect(await detailsOf(merchant, payment)).toMatchObject({ status: 'PAID', unmatched_transfers: [] });
    }
  });

  rule(
    ['endpoint.rule5.retry', 'errors.404', 'states.delivery.retry-refused'],
    'is unknown to every other merchant, whose retry changes nothing',
    async () => {
      const { event_id: eventId } = records.http_5xx;
      const stranger = cases.http_4xx.merchant;
      const [foreign, unknown] = await Promise.all([retry(stranger, eventId), retry(stranger, newId('evt'))]);
      expect([foreign.status, unknown.status, foreign.text]).toEqual([404, 404, unknown.text]);
      expect(await deliveriesOf(cases.http_5xx.merchant, cases.http_5xx.payment)).toEqual([records.http_5xx]);
    },
  );

  rule(
    ['endpoint.retry', 'states.delivery.retry', 'events.delivery.4', 'events.delivery.6', 'event.event_id'],
    'starts a new cycle when retried: the same id and bytes, to the current URL and with the current key, without using quota',
    async () => {
      const { merchant, payment } = cases.http_5xx;
      const { event_id: eventId, created_at: createdAt } = records.http_5xx;
      const [before] = await receivedBy(stack.file, merchant.host);
      const url = `https://new-${merchant.host}/elsewhere`;
      await merchant.call('PUT', '/api/v1/merchant/webhook', { body: { url } });
      const rotated = await merchant.call('POST', '/api/v1/merchant/webhook/rotate-key');
      const { key_id: keyId, signing_key: key } = rotated.json<{ key_id: string; signing_key: string }>();
      const { lifetime_requests_used: used } = await limitsOf(merchant);

      const answer = await retry(merchant, eventId);
      const started = answer.json<DeliveryRecord>();
      expect([answer.status, started]).toEqual([
        202,
        {
          ...records.http_5xx,
          ...{ created_at: createdAt, status: 'pending', attempts: 0, error_category: null },
          next_attempt_at: expect.any(String),
        },
      ]);
      const [webhook, ...others] = await untilReceived(stack.file, `new-${merchant.host}`);
      expect(others).toEqual([]);
      expect(webhook).toMatchObject({ path: '/elsewhere', raw_body: before!.raw_body });
      expect(webhook!.headers).toMatchObject({ 'x-service-key-id': keyId, 'x-service-event-id': eventId });
      expect(isGenuine(webhook!, key)).toBe(true);
      const delivered = await untilRecord(cases.http_5xx, ({ status }) => status === 'delivered');
      expect(delivered).toMatchObject({ event_id: eventId, attempts: 1, error_category: null, next_attempt_at: null });
      expect(await receivedBy(stack.file, merchant.host)).toHaveLength(9);
      expect(await retry(merchant, eventId)).toMatchObject({ status: 409 });
      expect(await detailsOf(merchant, payment)).toMatchObject({ status: 'PAID' });
      expect((await limitsOf(merchant)).lifetime_requests_used).toBe(used);
    },
  );

  rule(
    [
      'states.delivery.retry',
      'states.delivery.retry-refused',
      'endpoint.rule5.retry',
      'limits.app.retry',
      'errors.429',
    ],
    'starts one cycle when five retries come at once, with one audit row; the sixth is over the hourly limit',
    async () => {
      const { merchant } = cases.connection_reset;
      const { event_id: eventId } = records.connection_reset;
      const answers = await Promise.all(Array.from({ length: 5 }, () => retry(merchant, eventId)));
      expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409]);
      const refused = await retry(merchant, eventId);
      expect([refused.status, refused.text]).toEqual([429, '{"detail":"Rate limit exceeded","code":"rate_limited"}']);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_500);
      const audit = await inDatabase(
        stack.file,
        `select merchant_id, action, actor from webhooks.audit where event_id = $1`,
        [eventId],
      );
      expect(audit).toEqual([{ merchant_id: merchant.merchantId, action: 'event_retried', actor: 'merchant' }]);
    },
  );

  rule('events.delivery.3', 'can also be recovered by the operator', async () => {
    const { merchant } = cases.redirect;
    await answerWith(stack.file, merchant.host, { status: 200 });
    const { event_id: eventId } = records.redirect;
    const author = { actor: 'conformance', reason: 'the endpoint is back' };
    const recovered = await atDispatcher<DeliveryRecord>('POST', `/events/${eventId}/recover`, author);
    expect(recovered).toMatchObject({ event_id: eventId, status: 'pending', attempts: 0 });
    expect(await untilRecord(cases.redirect, ({ status }) => status === 'delivered')).toMatchObject({ attempts: 1 });
  });

  rule(
    ['auth.3', 'states.delivery.delivered', 'events.delivery.3'],
    'because its merchant is blocked waits without an attempt, and is sent once the account is unblocked',
    async () => {
      const [blocked, open] = await Promise.all([openMerchant(stack.file), openMerchant(stack.file)]);
      /** The records as the gateway would read them if the merchant had a working key. */
      const heldDeliveries = async ({ payment_id: id }: Payment) => {
        const path = `/merchants/${blocked.merchantId}/payments/${id}/deliveries`;
        return (await atDispatcher<{ deliveries: DeliveryRecord[] }>('GET', path)).deliveries;
      };
      const payments = await Promise.all([blocked.created(), open.created()]);
      await asOperator(stack.file, 'POST', `/merchants/${blocked.merchantId}/block`, {});
      await untilGate(stack.file, blocked.merchantId, (gate) => !gate.account_active);
      await payOnChain(stack.file.chain, blocked.wallet, '10.50');
      // The account is blocked, but not its payments: open ones are watched and settled.
      await untilStatus(stack.file, payments[0], 'PAID');
      await eventually(async () => {
        expect(await heldDeliveries(payments[0])).toMatchObject([{ status: 'pending', attempts: 0 }]);
      }, patience);
      // Anything sent to the blocked merchant would be sent before the event of this later payment.
      await payOnChain(stack.file.chain, open.wallet, '10.50');
      await untilReceived(stack.file, open.host);
      expect(await receivedBy(stack.file, blocked.host)).toEqual([]);
      expect(await heldDeliveries(payments[0])).toMatchObject([{ status: 'pending', attempts: 0 }]);
      await asOperator(stack.file, 'POST', `/merchants/${blocked.merchantId}/unblock`, {});
      const waiting = { merchant: blocked, payment: payments[0] };
      expect(await untilRecord(waiting, ({ status }) => status === 'delivered')).toMatchObject({ attempts: 1 });
      expect(await receivedBy(stack.file, blocked.host)).toHaveLength(1);
    },
  );
});
