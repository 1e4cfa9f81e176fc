import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { OwnEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { PaymentDetails } from '@quittance/contracts/payment.ts';
import { badge, facts, table, time } from './parts.ts';
import { eventMoments, moment, storyPart, transferMoments, words, type Moment } from './story.ts';

/** What a payment is, as its merchant sees it: with the texts that it was created with. */
export const ownPaymentPage = (payment: PaymentDetails): Html =>
  html`${facts({
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
  ${table('Transfers that pay nothing', payment.unmatched_transfers, {
    'Block time': ({ block_timestamp: at }) => time(at),
    Amount: ({ amount }) => `${amount} USDT`,
    'Why it does not pay': ({ reason }) => words(reason),
    Transaction: ({ transaction_id: id }) => id,
  })}`;

function transactionFacts({ transaction }: PaymentDetails): Record<string, string | null> {
  if (transaction === null) return {};
  const { amount, accepted, confirmations, confirmations_required: required, waiting_for: waiting } = transaction;
  return {
    Transaction: transaction.transaction_id,
    Brought: `${amount} USDT${accepted ? ', accepted by hand' : ''}`,
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
    transferMoments(at, payment.created_at, `${amount} USDT, pays nothing: ${words(reason)}`),
  ),
  ...moment(payment.paid_at, 'paid', payment.transaction === null ? '' : `${payment.transaction.amount} USDT`),
  ...moment(payment.cancelled_at, 'cancelled'),
  ...(payment.status === 'EXPIRED' ? moment(payment.expires_at, 'expired') : []),
];
