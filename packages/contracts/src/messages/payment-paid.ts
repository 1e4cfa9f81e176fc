import { defineMessage } from '../message.ts';
import { fields } from './fields.ts';

/** A payment's money arrived for good. Published once for each payment by payments, consumed by webhook-dispatcher, which makes the webhook event. */
export type PaymentPaid = {
  payment_id: string;
  merchant_id: string;
  /** The amount as the merchant sent it. */
  expected_amount: string;
  /** 64 lowercase hex characters, no 0x. */
  transaction_id: string;
  /** Position of the event in the receipt's full log list, from 0. Source: the API contract, "Webhook event". */
  transaction_event_index: number;
  description: string;
  paid_at: string;
};

export const PaymentPaid = defineMessage<PaymentPaid>({
  name: 'PaymentPaid',
  version: 1,
  published_by: 'payments',
  properties: {
    payment_id: fields.paymentId,
    merchant_id: fields.merchantId,
    expected_amount: fields.amount,
    transaction_id: fields.transactionId,
    transaction_event_index: fields.count,
    description: { type: 'string', minLength: 1, maxLength: 500 },
    paid_at: fields.timestamp,
  },
});
