import { beforeAll, describe, expect } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import type { HttpAnswer } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { createAndPay, deliveriesOf, detailsOf, untilRecord } from '../../support/paying.ts';
import { answerWith, isGenuine, receivedBy, untilReceived } from '../../support/receiver.ts';
import { rule } from '../support/rule.ts';
import { UTC_TIMESTAMP } from '../support/timestamp.ts';

const RETRIES_AN_HOUR = 5;
/** Less than the 15 seconds that an attempt may take. */
const ANSWER_AFTER_MS = 6_000;

/** GET /payments/{payment_id}/webhooks, and how an endpoint's answers change a delivery, with the standard delays. */
export function deliveriesSection(contract: Contract): void {
  describe('the delivery of an event', () => {
    type Case = { merchant: Merchant; payment: Payment };
    /** Merchants whose endpoints each answer in one way, and the paid payment of each. */
    const cases = {} as Record<201 | 204 | 299 | 302 | 'breaks', Case>;

    beforeAll(async () => {
      const behaviours = {
        201: { status: 201 },
        204: { status: 204 },
        299: { status: 299 },
        302: { status: 302, headers: { location: 'https://redirect-target.example.com/hooks' } },
        breaks: { reset: true, times: 1 },
      };
      await Promise.all(
        Object.entries(behaviours).map(async ([name, behaviour]) => {
          const merchant = await openMerchant(contract.stack);
          await answerWith(contract.stack, merchant.host, behaviour);
          const payment = await createAndPay(contract.stack, merchant);
          cases[name as keyof typeof cases] = { merchant, payment };
        }),
      );
    }, 120_000);

    const retry = (merchant: Merchant, eventId: string) =>
      merchant.call('POST', `/api/v1/merchant/webhook/events/${eventId}/retry`);

    describe('to an endpoint that fails once', () => {
      let failing: Case;
      let rotated: { key_id: string; signing_key: string };
      let record: DeliveryRecord;
      let refused: HttpAnswer;

      /** Makes all requests between the failure and its retry, at least four seconds; false if there was less time. */
      async function look(): Promise<boolean> {
        const merchant = await openMerchant(contract.stack);
        await answerWith(contract.stack, merchant.host, { status: 500, times: 1 });
        failing = { merchant, payment: await createAndPay(contract.stack, merchant) };
        const [first] = await untilReceived(contract.stack, merchant.host);
        const rotation = await merchant.call('POST', '/api/v1/merchant/webhook/rotate-key');
        rotated = rotation.json<typeof rotated>();
        record = await untilRecord(failing, ({ attempts }) => attempts >= 1);
        refused = await retry(merchant, first!.body.event_id);
        return (await receivedBy(contract.stack, merchant.host)).length === 1;
      }

      beforeAll(() => untilInTime(look), 120_000);

      rule(
        ['states.delivery.delivered', 'delivery.fields', 'endpoint.webhooks', 'events.delivery.2'],
        'is pending, with its error and the time of its retry',
        async () => {
          expect(record).toEqual({
            event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
            payment_id: failing.payment.payment_id,
            event_type: null,
            status: 'pending',
            attempts: 1,
            created_at: expect.stringMatching(UTC_TIMESTAMP),
            last_attempt_at: expect.stringMatching(UTC_TIMESTAMP),
            next_attempt_at: expect.stringMatching(UTC_TIMESTAMP),
            delivered_at: null,
            error_category: 'http_5xx',
          });
          const [last, next] = [Date.parse(record.last_attempt_at!), Date.parse(record.next_attempt_at!)];
          // Five seconds, shortened by at most a fifth, after the attempt has ended.
          expect(next - last).toBeGreaterThanOrEqual(4_000);
        },
      );

      rule(
        ['states.delivery.retry-refused', 'endpoint.rule5.retry', 'errors.409'],
        'cannot be retried manually meanwhile',
        async () => {
          expect([refused.status, refused.json<object>()]).toEqual([
            409,
            { detail: 'Only a failed webhook event can be retried', code: 'event_not_retryable' },
          ]);
        },
      );

      rule(
        [
          ...(['endpoint.rule7.rotation', 'events.header.key-id', 'events.header.timestamp'] as const),
          ...(['events.delivery.2', 'events.delivery.5'] as const),
        ],
        'is repeated with the same id and bytes, a new timestamp, and the key that is then current',
        async () => {
          const { merchant, payment } = failing;
          const [first, second] = await untilReceived(contract.stack, merchant.host, 2);
          expect(second!.raw_body).toBe(first!.raw_body);
          expect(second!.headers['x-service-event-id']).toBe(first!.headers['x-service-event-id']);
          const timestamps = [first, second].map((webhook) => Number(webhook!.headers['x-service-timestamp']));
          expect(timestamps[1]! - timestamps[0]!).toBeGreaterThanOrEqual(3);
          expect(second!.headers['x-service-key-id']).toBe(rotated.key_id);
          expect(first!.headers['x-service-key-id']).not.toBe(rotated.key_id);
          expect(isGenuine(second!, rotated.signing_key)).toBe(true);
          expect(isGenuine(first!, rotated.signing_key)).toBe(false);
          const delivered = await untilRecord(failing, ({ status }) => status === 'delivered');
          expect(delivered).toMatchObject({ payment_id: payment.payment_id, attempts: 2, error_category: null });
        },
      );
    });

    describe('to an endpoint that is slow', () => {
      let slow: Case;
      let record: DeliveryRecord;
      let refused: HttpAnswer;

      /** Makes all requests while the endpoint delays its answer; false if it answered too soon. */
      async function look(): Promise<boolean> {
        const merchant = await openMerchant(contract.stack);
        await answerWith(contract.stack, merchant.host, { delay_ms: ANSWER_AFTER_MS });
        slow = { merchant, payment: await createAndPay(contract.stack, merchant) };
        const [first] = await untilReceived(contract.stack, merchant.host);
        [record] = (await deliveriesOf(merchant, slow.payment)) as [DeliveryRecord];
        refused = await retry(merchant, first!.body.event_id);
        return Date.now() < Date.parse(first!.received_at) + ANSWER_AFTER_MS;
      }

      beforeAll(() => untilInTime(look), 120_000);

      rule(
        ['delivery.in-flight', 'states.delivery.retry-refused', 'errors.409'],
        'is pending while the attempt is in progress, which counts only once it has ended, and cannot be retried manually',
        async () => {
          expect(record).toMatchObject({
            ...{ status: 'pending', attempts: 0 },
            ...{ last_attempt_at: null, delivered_at: null, error_category: null },
          });
          expect(refused.status).toBe(409);
          const delivered = await untilRecord(slow, ({ status }) => status === 'delivered');
          expect(delivered).toMatchObject({ event_id: record.event_id, attempts: 1, error_category: null });
          expect(await receivedBy(contract.stack, slow.merchant.host)).toHaveLength(1);
        },
      );
    });

    rule(
      ['events.delivery.2', 'events.delivery.5', 'event.event_id', 'states.delivery.delivered'],
      'whose answer was lost is sent again as the same event',
      async () => {
        const { merchant } = cases.breaks;
        const [first, second] = await untilReceived(contract.stack, merchant.host, 2);
        expect([second!.raw_body, second!.body.event_id]).toEqual([first!.raw_body, first!.body.event_id]);
        expect([first!.verified, second!.verified]).toEqual([true, true]);
        const record = await untilRecord(cases.breaks, ({ status }) => status === 'delivered');
        expect(record).toMatchObject({ event_id: first!.body.event_id, attempts: 2, error_category: null });
      },
    );

    rule(
      [
        'states.delivery.delivered',
        'delivery.fields',
        'endpoint.webhooks',
        'events.diagnostics',
        'limits.size.deliveries',
        'events.paid-only',
      ],
      'is delivered by any 2xx, at the first attempt, and is the only record of its payment, because only PAID is sent',
      async () => {
        for (const status of [201, 204, 299] as const) {
          const { merchant, payment } = cases[status];
          await untilRecord(cases[status], (record) => record.status === 'delivered');
          const records = await deliveriesOf(merchant, payment);
          const [webhook, ...others] = await receivedBy(contract.stack, merchant.host);
          expect(others).toEqual([]);
          expect(records).toEqual([
            {
              event_id: webhook!.body.event_id,
              payment_id: payment.payment_id,
              event_type: null,
              status: 'delivered',
              attempts: 1,
              created_at: expect.stringMatching(UTC_TIMESTAMP),
              last_attempt_at: expect.stringMatching(UTC_TIMESTAMP),
              next_attempt_at: null,
              delivered_at: expect.stringMatching(UTC_TIMESTAMP),
              error_category: null,
            },
          ]);
          const { created_at: created, last_attempt_at: attempted, delivered_at: delivered } = records[0]!;
          const { paid_at: paid } = await detailsOf(merchant, payment);
          expect([paid!, created, attempted!, delivered!]).toEqual([paid!, created, attempted!, delivered!].toSorted());
        }
      },
    );

    rule(
      ['states.delivery.delivered', 'endpoint.rule6.url', 'events.delivery.2'],
      'does not follow a redirect, and counts it as a failure',
      async () => {
        const record = await untilRecord(cases[302], ({ attempts }) => attempts >= 1);
        expect(record).toMatchObject({ status: 'pending', error_category: 'redirect', delivered_at: null });
        expect(await receivedBy(contract.stack, 'redirect-target.example.com')).toEqual([]);
      },
    );

    rule(
      ['states.delivery.retry-refused', 'endpoint.rule5.retry', 'endpoint.rule4.webhooks', 'errors.404', 'errors.409'],
      'once delivered cannot be retried, 409; for another merchant’s or an unknown payment it is 404',
      async () => {
        const { merchant: owner, payment } = cases[201];
        const stranger = cases[204].merchant;
        const before = await deliveriesOf(owner, payment);
        const eventId = before[0]!.event_id;
        const refused = await retry(owner, eventId);
        expect(refused.status).toBe(409);
        const answers = await Promise.all([
          retry(stranger, eventId),
          retry(stranger, newId('evt')),
          retry(stranger, 'evt_x'),
          stranger.call('GET', `/api/v1/payments/${payment.payment_id}/webhooks`),
          stranger.call('GET', `/api/v1/payments/${newId('pay')}/webhooks`),
          stranger.call('GET', '/api/v1/payments/pay_x/webhooks'),
        ]);
        const event = [404, '{"detail":"Webhook event not found","code":"not_found"}'];
        const none = [404, '{"detail":"Payment not found","code":"not_found"}'];
        expect(answers.map(({ status, text }) => [status, text])).toEqual([event, event, event, none, none, none]);
        expect(await deliveriesOf(owner, payment)).toEqual(before);
        expect(await receivedBy(contract.stack, owner.host)).toHaveLength(1);
      },
    );

    rule(
      ['endpoint.webhooks', 'delivery.hidden'],
      'is recorded without URL, body or key; an unpaid payment has none',
      async () => {
        const { merchant, payment } = cases[201];
        const unpaid = await merchant.created({ amount: '1.23' });
        expect(await deliveriesOf(merchant, unpaid)).toEqual([]);
        const { text } = await merchant.call('GET', `/api/v1/payments/${payment.payment_id}/webhooks`);
        const { transaction } = await detailsOf(merchant, payment);
        const hidden = ['whsec_', 'whk_', 'https://', merchant.host, payment.description, transaction!.transaction_id];
        for (const word of [...hidden, 'url', 'body', 'secret', 'signature']) expect(text).not.toContain(word);
      },
    );

    rule(
      ['endpoint.rule5.retry', 'limits.app.retry', 'errors.429', 'errors.body.4'],
      'can be retried manually five times an hour, refusals included; then 429 says how long to wait',
      async () => {
        const merchant = await openMerchant(contract.stack, { webhook: false });
        const ids = Array.from({ length: RETRIES_AN_HOUR + 2 }, () => newId('evt'));
        const answers = [];
        for (const id of ids) answers.push(await retry(merchant, id));
        expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 429, 429]);
        const { headers, text } = answers.at(-1)!;
        expect(text).toBe('{"detail":"Rate limit exceeded","code":"rate_limited"}');
        expect(Number(headers['retry-after'])).toBeGreaterThan(3_500);
        expect(Number(headers['retry-after'])).toBeLessThanOrEqual(3_600);
        expect((await merchant.call('GET', '/api/v1/payments')).status).toBe(200);
      },
    );
  });
}

/** Tests something that lasts only a few seconds, again from the beginning if the machine was too slow. */
async function untilInTime(look: () => Promise<boolean>): Promise<void> {
  for (let tries = 1; tries <= 3; tries += 1) if (await look()) return;
  throw new Error('this machine was too slow three times');
}
