import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { OwnEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { PaymentDetails, UnmatchedTransfer } from '@quittance/contracts/api/payment.ts';
import { badge, facts, table, time, type Cell } from './parts.ts';
import { reasonsPart } from './reasons.ts';
import { eventMoments, moment, storyPart, transferMoments, words, type Moment } from './story.ts';
import { warningsPart } from './warnings.ts';

/** What a payment is, as its merchant sees it: with the texts that it was created with. */
export const ownPaymentPage = (payment: PaymentDetails): Html =>
  html`${warningsPart(payment.warnings)}
  ${facts({
    Status: badge(payment.status),
    Amount: `${payment.amount} ${payment.currency}`,
    Requested: `${payment.requested_amount} ${payment.currency}`,
    Wallet: `${payment.merchant_wallet} on ${payment.network}`,
    Description: payment.description,
    Order: payment.order_id,
    Reference: payment.reference,
    Checkout: payment.payment_url,
    'Leads back to': payment.return_url,
    Expires: time(payment.expires_at),
    ...transactionFacts(payment),
  })}
  ${metadataTable(payment)}
  ${table('Unmatched transfers', payment.unmatched_transfers, {
    'Block time': ({ block_timestamp: at }) => time(at),
    Received: ({ amount }) => `${amount} USDT`,
    Reason: ({ reason }) => words(reason),
    'May be for': (transfer) => possibleText(transfer),
    Transaction: ({ transaction_id: id }) => id,
  })}
  ${reasonsPart(payment.unmatched_transfers)}`;

/** Which the others are, the page of unmatched transfers says: they may be another merchant's. */
function possibleText({ reason, candidate_count: count }: UnmatchedTransfer): string {
  if (reason === 'paid_another') return 'it paid another payment';
  return count <= 1 ? 'this payment' : `${count} payments, this one included`;
}

function transactionFacts({ transaction }: PaymentDetails): Record<string, Cell> {
  if (transaction === null) return {};
  const { amount, accepted, block_timestamp: at, waiting_for: waiting } = transaction;
  const { confirmations, confirmations_required: required } = transaction;
  return {
    Transaction: transaction.transaction_id,
    Received: `${amount} USDT${accepted ? ', accepted manually' : ''}`,
    'Block time': time(at),
    Confirmations: `${confirmations} of ${required}`,
    'Waits for': waiting === null ? null : words(waiting),
  };
}

function metadataTable({ metadata }: PaymentDetails): Html | [] {
  const entries = Object.entries(metadata);
  if (entries.length === 0) return [];
  return table('Metadata', entries, { Name: ([name]) => name, Value: ([, value]) => value });
}

/** Everything that happened to a payment, and every attempt to tell the merchant. */
export const ownStoryPart = (payment: PaymentDetails, events: readonly OwnEvent[]): Html =>
  storyPart([...ownStory(payment), ...events.flatMap((event) => eventMoments(event))]);

const ownStory = (payment: PaymentDetails): Moment[] => [
  ...moment(payment.created_at, 'created', `asks for ${payment.amount} ${payment.currency}`),
  ...payment.unmatched_transfers.flatMap(({ block_timestamp: at, amount, reason }) =>
    transferMoments(at, payment.created_at, `${amount} USDT, unmatched: ${words(reason)}`),
  ),
  ...moment(payment.paid_at, 'paid', payment.transaction === null ? '' : `${payment.transaction.amount} USDT`),
  ...moment(payment.cancelled_at, 'cancelled'),
  ...(payment.status === 'EXPIRED' ? moment(payment.expires_at, 'expired') : []),
];
