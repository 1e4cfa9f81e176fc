import { eventExtraNames, type EventExtras } from '@quittance/contracts/api/payment.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { PaymentPaid, NoticeRaised } from '@quittance/contracts/messages.ts';
import type {
  NoticeType,
  ReceivedPart,
  UnmatchedMoney,
  WebhookEvent,
  WebhookNotice,
} from '@quittance/contracts/webhook.ts';
import { onBatch, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { insertEvents, type NewEvent, insertNotices, type NewNotice } from './event.sql.ts';

/**
 * Writes the PAID event of each paid payment, with the bytes that every attempt sends. In batches, because with a transaction for each, a
 * busy merchant's lane would be locked most of the time, and a locked lane is not claimed.
 * @param wake wakes the deliver loop, so that the first attempts follow the commit.
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
    ...(payment.received_amount !== undefined && { received_amount: payment.received_amount }),
    ...(payment.transfers !== undefined && { transfers: payment.transfers.map(partOf) }),
  };
  const body = Buffer.from(JSON.stringify(event), 'utf8');
  return { eventId, paymentId: payment.payment_id, merchantId: payment.merchant_id, body, traceparent };
}

/** Writes the events for everything but PAID, for merchants that currently subscribe to their type. */
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
 * Identifies what a notice is about, so that it is sent once. A payment expires or is cancelled once. It is CHECKING once for each transfer,
 * even if a reorganisation moves the transfer to another block. An unmatched transfer is reported once, whichever payments it may be for.
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

/** What an event repeats of its payment, in the order of its bytes; nothing else that a newer message may hold. */
const extrasOf = (message: EventExtras): EventExtras =>
  Object.fromEntries(
    eventExtraNames.filter((name) => message[name] !== undefined).map((name) => [name, message[name]]),
  );

/** One of several transfers that pay together, with its fields in a fixed order. */
const partOf = ({ transaction_id, transaction_event_index, amount }: ReceivedPart): ReceivedPart => ({
  transaction_id,
  transaction_event_index,
  amount,
});

/** An unmatched transfer, with its fields in a fixed order. */
const moneyOf = ({ amount, reason, network, merchant_wallet, block_timestamp }: UnmatchedMoney): UnmatchedMoney => ({
  amount,
  reason,
  network,
  merchant_wallet,
  block_timestamp,
});
