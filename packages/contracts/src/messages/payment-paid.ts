import { defineMessage, type BodyOfMessage } from '../message.ts';
import { eventExtras } from '../api/payment.ts';
import { fields, unmatchedMoney } from './fields.ts';

/**
 * A payment's money has arrived finally. Published by payments once for each payment, consumed by webhook-dispatcher,
 * which creates the webhook event.
 */
export const PaymentPaid = defineMessage({
  name: 'PaymentPaid',
  version: 1,
  published_by: 'payments',
  properties: {
    payment_id: fields.paymentId,
    merchant_id: fields.merchantId,
    /** The payment's amount, even if the transfer carried a different one. */
    expected_amount: fields.amount,
    transaction_id: fields.transactionId,
    transaction_event_index: fields.eventIndex,
    description: { type: 'string', minLength: 1, maxLength: 500 },
    paid_at: fields.timestamp,
  },
  optional: {
    ...eventExtras,
    /** Present when the transfer pays because a person accepted it. `transfer` then describes it. */
    accepted: { enum: [true] },
    transfer: unmatchedMoney,
  },
});

export type PaymentPaid = BodyOfMessage<typeof PaymentPaid>;
