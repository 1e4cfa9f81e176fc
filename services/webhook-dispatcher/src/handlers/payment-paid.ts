import { newId } from '@quittance/contracts/ids.ts';
import { PaymentPaid } from '@quittance/contracts/messages/payment-paid.ts';
import type { WebhookEvent } from '@quittance/contracts/webhook.ts';
import { onBatch, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { extrasOf, moneyOf } from './payment-extras.ts';
import { insertEvents, type NewEvent } from '../store/event.ts';

/**
 * Payments are paid: each one's event is written with the bytes that every attempt will send. In batches, because in a transaction
 * each, the payments of a busy merchant would keep its lane locked most of the time, and a locked lane is not claimed.
 * @param wake has the deliver loop look at once, so that the first attempts follow the commit.
 */
export const paymentPaid = (wake: () => void): Handler =>
  onBatch(PaymentPaid, 'payment-paid', async (payments, { tx, traceparents }) => {
    const events = payments.map((payment, index) => toEvent(payment, traceparents[index] ?? null));
    if (await insertEvents(tx, events)) tx.afterCommit(wake);
  });

function toEvent(payment: PaymentPaid, traceparent: string | null): NewEvent {
  const eventId = newId('evt');
  const event: WebhookEvent = {
    event_id: eventId,
    payment_id: payment.payment_id,
    status: 'PAID',
    expected_amount: payment.expected_amount,
    transaction_id: payment.transaction_id,
    transaction_event_index: payment.transaction_event_index,
    description: payment.description,
    ...extrasOf(payment),
    ...(payment.accepted === true && { accepted: true }),
    ...(payment.transfer !== undefined && { transfer: moneyOf(payment.transfer) }),
  };
  const body = Buffer.from(JSON.stringify(event), 'utf8');
  return { eventId, paymentId: payment.payment_id, merchantId: payment.merchant_id, body, traceparent };
}
