import { defineMessage, type BodyOfMessage } from '../message.ts';
import { noticeTypes, type NoticeType } from '../webhook.ts';
import { CANDIDATES_MAX } from '../api/payment.ts';
import { eventExtras } from '../api/payment.ts';
import { fields, nullable, unmatchedMoney } from './fields.ts';

const text = { type: 'string', minLength: 1 } as const;

/**
 * An event other than PAID that a merchant subscribed to. Published by payments, in the transaction of the event, for
 * merchants that subscribed to it as far as payments knows. Consumed by webhook-dispatcher, which creates the webhook
 * event if they still subscribe to it.
 */
export const NoticeRaised = defineMessage({
  name: 'NoticeRaised',
  version: 1,
  published_by: 'payments',
  properties: {
    merchant_id: fields.merchantId,
    event_type: { type: 'string', enum: Object.keys(noticeTypes) as NoticeType[] },
    /** This and the payment's other fields are null for a transfer that fits no payment. */
    payment_id: nullable(fields.paymentId),
    expected_amount: nullable(fields.amount),
    description: nullable({ ...text, maxLength: 500 }),
    /** The transfer of the event, if it has one. */
    transaction_id: nullable(fields.transactionId),
    transaction_event_index: nullable(fields.eventIndex),
  },
  optional: {
    ...eventExtras,
    /** For an unmatched transfer. */
    transfer: unmatchedMoney,
    /** The merchant's payments that it may be for. Absent in messages of releases up to 0.2.0. */
    candidates: { type: 'array', items: fields.paymentId, maxItems: CANDIDATES_MAX },
    /** Whether it may be for another merchant's payment. */
    candidates_elsewhere: { type: 'boolean' },
    /** For an expired payment: how many unmatched transfers may be for it. */
    candidate_transfers: fields.count,
  },
});

export type NoticeRaised = BodyOfMessage<typeof NoticeRaised>;
