import { defineMessage, type BodyOfMessage } from '../message.ts';
import { noticeTypes, type NoticeType } from '../webhook.ts';
import { fields, nullable } from './fields.ts';

const text = { type: 'string', minLength: 1 } as const;
const reasons = ['underpaid', 'overpaid', 'late', 'after_cancel', 'duplicate', null] as const;

/**
 * Something happened that its merchant chose to be told besides PAID. Published by payments in the transaction of what happened, for
 * merchants who chose it as far as payments knows; consumed by webhook-dispatcher, which makes the webhook event if they still do.
 */
export const NoticeRaised = defineMessage({
  name: 'NoticeRaised',
  version: 1,
  published_by: 'payments',
  properties: {
    merchant_id: fields.merchantId,
    event_type: { type: 'string', enum: Object.keys(noticeTypes) as NoticeType[] },
    /** It and what is said of it are null for a transfer that fits no payment. */
    payment_id: nullable(fields.paymentId),
    expected_amount: nullable(fields.amount),
    description: nullable({ ...text, maxLength: 500 }),
    /** The transfer that it is about, if it is about one. */
    transaction_id: nullable(fields.transactionId),
    transaction_event_index: nullable(fields.eventIndex),
  },
  optional: {
    /** Of the payment, where it has them. */
    order_id: { ...text, maxLength: 128 },
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
    /** As the merchant sent it; only where the service made `expected_amount` a unique one. */
    requested_amount: fields.amount,
    /** Of a transfer that pays nothing. */
    transfer: {
      type: 'object',
      required: ['amount', 'reason', 'network', 'merchant_wallet', 'block_timestamp'],
      properties: {
        /** What it carried, decimal text in USDT. */
        amount: text,
        /** Why it does not pay the payment that it was probably meant for; null where it was meant for none. */
        reason: { enum: reasons },
        network: fields.network,
        merchant_wallet: fields.address,
        block_timestamp: fields.timestamp,
      },
    },
  },
});

export type NoticeRaised = BodyOfMessage<typeof NoticeRaised>;
