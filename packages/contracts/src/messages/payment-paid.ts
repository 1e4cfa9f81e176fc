import { defineMessage, type BodyOfMessage } from '../message.ts';
import { fields } from './fields.ts';

/** A payment's money arrived for good. Published once for each payment by payments, consumed by webhook-dispatcher, which makes the webhook event. */
export const PaymentPaid = defineMessage({
  name: 'PaymentPaid',
  version: 1,
  published_by: 'payments',
  properties: {
    payment_id: fields.paymentId,
    merchant_id: fields.merchantId,
    /** The amount as the merchant sent it. */
    expected_amount: fields.amount,
    transaction_id: fields.transactionId,
    transaction_event_index: fields.eventIndex,
    description: { type: 'string', minLength: 1, maxLength: 500 },
    paid_at: fields.timestamp,
  },
});

export type PaymentPaid = BodyOfMessage<typeof PaymentPaid>;
