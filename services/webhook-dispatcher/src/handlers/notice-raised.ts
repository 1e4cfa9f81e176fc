import { newId } from '@quittance/contracts/ids.ts';
import { NoticeRaised } from '@quittance/contracts/messages/notice-raised.ts';
import type { NoticeType, WebhookNotice } from '@quittance/contracts/webhook.ts';
import { onBatch, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { extrasOf, moneyOf } from './payment-extras.ts';
import { insertNotices, type NewNotice } from '../store/notice.ts';

/** What happens to payments besides PAID: an event each, for merchants who choose its type now, with the bytes that will be sent. */
export const noticeRaised = (wake: () => void): Handler =>
  onBatch(NoticeRaised, 'notice-raised', async (notices, { tx, traceparents }) => {
    const events = notices.map((notice, index) => toNotice(notice, traceparents[index] ?? null));
    if (await insertNotices(tx, events)) tx.afterCommit(wake);
  });

function toNotice(raised: NoticeRaised, traceparent: string | null): NewNotice {
  const eventId = newId('evt');
  const { merchant_id: merchantId, event_type: type, payment_id: paymentId, transfer } = raised;
  const notice: WebhookNotice = {
    event_id: eventId,
    event_type: type,
    payment_id: paymentId,
    status: statuses[type],
    expected_amount: raised.expected_amount,
    transaction_id: raised.transaction_id,
    transaction_event_index: raised.transaction_event_index,
    description: raised.description,
    ...extrasOf(raised),
    ...(transfer !== undefined && { transfer: moneyOf(transfer) }),
    ...(raised.candidates !== undefined && { candidates: raised.candidates }),
    ...(raised.candidates_elsewhere === true && { candidates_elsewhere: true }),
    ...(raised.candidate_transfers !== undefined && { candidate_transfers: raised.candidate_transfers }),
  };
  const body = Buffer.from(JSON.stringify(notice), 'utf8');
  return { eventId, merchantId, type, paymentId, occurrence: occurrenceOf(raised), body, traceparent };
}

const statuses = {
  'payment.checking': 'CHECKING',
  'payment.expired': 'EXPIRED',
  'payment.cancelled': 'CANCELLED',
  'transfer.unmatched': 'UNMATCHED',
} as const satisfies Record<NoticeType, WebhookNotice['status']>;

/**
 * A payment ends unpaid once. It is CHECKING once for each transfer: a transfer that a reorganisation only moves to another block is
 * no news. A transfer that pays nothing is told once, whichever payment it seems to fit.
 */
function occurrenceOf({ event_type: type, payment_id: paymentId, transfer, ...event }: NoticeRaised): string {
  const transferId = `${event.transaction_id} ${event.transaction_event_index}`;
  switch (type) {
    case 'payment.expired':
    case 'payment.cancelled':
      return `${type} ${paymentId}`;
    case 'payment.checking':
      return `${type} ${paymentId} ${transferId}`;
    case 'transfer.unmatched':
      return `${type} ${transfer?.network} ${transferId}`;
  }
}
