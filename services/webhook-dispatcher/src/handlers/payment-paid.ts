import { newId } from '@quittance/contracts/ids.ts';
import { PaymentPaid } from '@quittance/contracts/messages/payment-paid.ts';
import type { WebhookEvent } from '@quittance/contracts/webhook.ts';
import { on } from '@quittance/messaging/handler.ts';
import type { Handler } from '@quittance/messaging/handler.ts';
import { insertEvent } from '../store/event.ts';

/**
 * A payment is paid: its one event is written with the bytes that every attempt will send.
 * @param wake has the deliver loop look at once, so that the first attempt follows the commit.
 */
export const paymentPaid = (wake: () => void): Handler =>
  on(PaymentPaid, 'payment-paid', async (payment, { tx }) => {
    const eventId = newId('evt');
    const event: WebhookEvent = {
      event_id: eventId,
      payment_id: payment.payment_id,
      status: 'PAID',
      expected_amount: payment.expected_amount,
      transaction_id: payment.transaction_id,
      transaction_event_index: payment.transaction_event_index,
      description: payment.description,
    };
    const body = Buffer.from(JSON.stringify(event), 'utf8');
    const { payment_id: paymentId, merchant_id: merchantId } = payment;
    if (await insertEvent(tx, { eventId, paymentId, merchantId, body })) tx.afterCommit(wake);
  });
