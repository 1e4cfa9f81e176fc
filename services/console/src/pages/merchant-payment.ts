import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { OwnEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { PaymentDetails } from '@quittance/contracts/payment.ts';
import { badge, facts, table, time } from './parts.ts';

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
    'Why it does not pay': ({ reason }) => reason.replaceAll('_', ' '),
    Transaction: ({ transaction_id: id }) => id,
  })}`;

function transactionFacts({ transaction }: PaymentDetails): Record<string, string | null> {
  if (transaction === null) return {};
  const { amount, accepted, confirmations, confirmations_required: required } = transaction;
  return {
    Transaction: transaction.transaction_id,
    Brought: `${amount} USDT${accepted ? ', accepted by hand' : ''}`,
    Confirmations: `${confirmations} of ${required}`,
    'Waits for': transaction.waiting_for?.replaceAll('_', ' ') ?? null,
  };
}

function metadataTable({ metadata }: PaymentDetails): Html | [] {
  const entries = Object.entries(metadata);
  if (entries.length === 0) return [];
  return table('Metadata', entries, { Name: ([name]) => name, Value: ([, value]) => value });
}

type Moment = { at: string; what: string; detail: string };

/** Everything that happened to a payment, and every attempt to tell the merchant, in order. */
export const ownStoryTable = (payment: PaymentDetails, events: readonly OwnEvent[]): Html =>
  table('What happened', [...ownStory(payment), ...events.flatMap(eventStory)].sort(byTime), {
    When: ({ at }) => time(at),
    What: ({ what }) => what,
    Detail: ({ detail }) => detail,
  });

const byTime = (a: Moment, b: Moment): number => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0);

const moment = (at: string | null, what: string, detail = ''): Moment[] => (at === null ? [] : [{ at, what, detail }]);

const ownStory = (payment: PaymentDetails): Moment[] => [
  ...moment(payment.created_at, 'created', `asks for ${payment.amount} ${payment.currency}`),
  ...payment.unmatched_transfers.flatMap(({ block_timestamp: at, amount, reason }) =>
    moment(at, 'transfer', `${amount} USDT, pays nothing: ${reason.replaceAll('_', ' ')}`),
  ),
  ...moment(payment.paid_at, 'paid', payment.transaction === null ? '' : `${payment.transaction.amount} USDT`),
  ...moment(payment.cancelled_at, 'cancelled'),
  ...(payment.status === 'EXPIRED' ? moment(payment.expires_at, 'expired') : []),
];

function eventStory({ event, attempts }: OwnEvent): Moment[] {
  const name = event.event_type ?? 'PAID';
  return [
    ...moment(event.created_at, `webhook ${name}`, `${event.event_id}, ${event.status}`),
    ...attempts.flatMap(({ started_at: at, n, http_status: status, error_category: error, duration_ms: ms }) =>
      moment(at, `attempt ${n} at ${name}`, `${status ?? error?.replaceAll('_', ' ') ?? ''} after ${ms} ms`),
    ),
  ];
}
