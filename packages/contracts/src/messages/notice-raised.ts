import { defineMessage, type BodyOfMessage } from '../message.ts';
import { noticeTypes, type NoticeType } from '../webhook.ts';
import { CANDIDATES_MAX } from '../api/payment.ts';
import { eventExtras } from '../api/payment.ts';
import { fields, nullable, unmatchedMoney } from './fields.ts';

const text = { type: 'string', minLength: 1 } as const;

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
    ...eventExtras,
    /** Of a transfer that pays nothing. */
    transfer: unmatchedMoney,
    /** The merchant's payments that it may be for. Absent in messages of releases up to 0.2.0. */
    candidates: { type: 'array', items: fields.paymentId, maxItems: CANDIDATES_MAX },
    /** Whether another merchant has a payment that it may be for. */
    candidates_elsewhere: { type: 'boolean' },
    /** Of an expired payment: how many transfers may be for it and pay nothing. */
    candidate_transfers: fields.count,
  },
});

export type NoticeRaised = BodyOfMessage<typeof NoticeRaised>;
