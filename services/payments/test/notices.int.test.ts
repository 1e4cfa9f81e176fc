import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type NoticeRaised, TransferObserved, WebhookConfigured } from '@quittance/contracts/messages.ts';
import { webhookChoices, type WebhookChoice } from '@quittance/contracts/webhook.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { newMerchant, newPayment } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());

const choose = (merchantId: string, events: readonly WebhookChoice[], version = 2) =>
  payments.call('PUT', `/merchants/${merchantId}/webhook-choice`, { events, version });
const noticesOf = (merchantId: string): NoticeRaised[] =>
  payments.received.notices.filter((notice) => notice.merchant_id === merchantId);
const untilNotices = (merchantId: string, count: number): Promise<NoticeRaised[]> =>
  eventually(() => {
    const notices = noticesOf(merchantId);
    expect(notices).toHaveLength(count);
    return notices;
  });
const choosing = async (...events: WebhookChoice[]): Promise<string> => {
  const merchantId = await newMerchant(payments);
  await choose(merchantId, events);
  return merchantId;
};
const choiceOf = async (merchantId: string) =>
  (
    await payments.db.query<{ webhook_events: string[] | null; webhook_version: number | null }>(
      'select webhook_events, webhook_version from gate where merchant_id = $1',
      [merchantId],
    )
  ).rows[0];

describe('a merchant’s choice', () => {
  test('is the newest of those that arrived, in either way', async () => {
    const merchantId = await newMerchant(payments);
    const say = (events: WebhookChoice[], version: number) => {
      const configured_at = new Date().toISOString();
      return payments.publish(WebhookConfigured, { merchant_id: merchantId, configured_at, events, version });
    };
    await choose(merchantId, ['PAID', 'EXPIRED'], 3);
    await say(['CANCELLED'], 2);
    await say(['CHECKING'], 4);
    await eventually(async () =>
      expect(await choiceOf(merchantId)).toEqual({ webhook_events: ['CHECKING'], webhook_version: 4 }),
    );
    await choose(merchantId, ['PAID'], 3);
    expect(await choiceOf(merchantId)).toEqual({ webhook_events: ['CHECKING'], webhook_version: 4 });
  });

  test('is stored with the endpoint when a creation asks whether there is one', async () => {
    const merchantId = await newMerchant(payments);
    await payments.db.query('update gate set webhook_ok = false where merchant_id = $1', [merchantId]);
    await newPayment(payments, {}, merchantId);
    expect(await choiceOf(merchantId)).toEqual({ webhook_events: ['PAID'], webhook_version: 1 });
  });
});

describe('a change of status', () => {
  test('notifies a merchant who subscribed, with what is known of the payment', async () => {
    const merchantId = await choosing(...webhookChoices);
    const cancelled = await newPayment(payments, { amount: '10.50', description: 'Zwei Karten' }, merchantId);
    await payments.db.query(`update payment set order_id = 'A-7', metadata = '{"cart":"9"}' where payment_id = $1`, [
      cancelled.payment.payment_id,
    ]);
    await cancelled.cancel();
    await untilNotices(merchantId, 1);
    const checking = await newPayment(payments, { amount: '11' }, merchantId);
    const seen = await checking.observe();
    await untilNotices(merchantId, 2);
    const expired = await newPayment(payments, { amount: '12' }, merchantId);
    await expired.age(60);
    payments.stubs.chain.scannedThrough = new Date();
    const transfer = { transaction_id: null, transaction_event_index: null };
    const description = 'Two tickets';
    expect(await untilNotices(merchantId, 3)).toEqual([
      {
        merchant_id: merchantId,
        event_type: 'payment.cancelled',
        payment_id: cancelled.payment.payment_id,
        expected_amount: '10.50',
        description: 'Zwei Karten',
        ...transfer,
        order_id: 'A-7',
        metadata: { cart: '9' },
      },
      {
        merchant_id: merchantId,
        event_type: 'payment.checking',
        payment_id: checking.payment.payment_id,
        expected_amount: '11',
        description,
        transaction_id: seen.transaction_id,
        transaction_event_index: 3,
      },
      {
        merchant_id: merchantId,
        event_type: 'payment.expired',
        payment_id: expired.payment.payment_id,
        expected_amount: '12',
        description,
        ...transfer,
      },
    ]);
  });

  test('notifies nobody who did not subscribe, and then writes no message', async () => {
    const [merchantId, other] = [await choosing('PAID', 'EXPIRED'), await newMerchant(payments)];
    for (const merchant of [merchantId, other]) {
      await (await newPayment(payments, {}, merchant)).cancel();
      const paid = await newPayment(payments, {}, merchant);
      const seen = await paid.observe();
      await payments.publish(TransferObserved, { ...seen, phase: 'confirmed', version: 2 });
      await eventually(async () => expect(await paid.details()).toMatchObject({ status: 'PAID' }));
    }
    const { rows } = await payments.db.query(
      `select from (select name, body from outbox union all select name, body from sent_message) as message
        where name = 'NoticeRaised' and body::json ->> 'merchant_id' = any($1)`,
      [[merchantId, other]],
    );
    expect(rows).toEqual([]);
  });
});
