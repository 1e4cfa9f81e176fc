import { html, type Html } from '@quittance/checkout-page/html.ts';
import { AcceptTransfer, type AcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import type { LedgerEntry, OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import { RecoverEvent, type DescribedEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { badge, facts, link, merchantLink, table, time } from './parts.ts';

/** What a payment is, and the transfers that came for it. */
export const paymentPage = (payment: OperatorsPayment, viewer: Viewer): Html =>
  html`${facts({
    Status: badge(payment.status),
    Merchant: merchantLink(payment.merchant_id),
    Amount: `${payment.amount} ${payment.currency}`,
    Wallet: `${payment.merchant_wallet} on ${payment.network}`,
    Description: payment.description,
    Order: payment.order_id,
    Reference: payment.reference,
    Expires: time(payment.expires_at),
    'Waits for': payment.transaction?.waiting_for?.replaceAll('_', ' ') ?? null,
    Transaction: payment.transaction?.transaction_id ?? null,
  })}
  ${table('Transfers', payment.transfers, {
    Amount: ({ amount }) => `${amount} USDT`,
    'Block time': ({ block_timestamp: at }) => time(at),
    Transaction: ({ transaction_id: id }) => id,
    From: ({ sender }) => sender,
    Phase: ({ phase }) => badge(phase),
    Confirmations: ({ confirmations, confirmations_required: required }) => `${confirmations} of ${required}`,
    Pays: (transfer) => paysText(transfer, payment.payment_id),
    ...(mayCall(viewer, AcceptTransfer.access) &&
      payment.status !== 'PAID' && {
        Accept: ({ payment_id, transaction_id: id, transaction_event_index: index }: LedgerEntry) =>
          payment_id === null
            ? link(`/payments/${payment.payment_id}/accept?transaction_id=${id}&index=${index}`, 'Accept')
            : null,
      }),
  })}`;

function paysText({ payment_id, reason }: LedgerEntry, paymentId: string): string {
  if (payment_id !== null) return payment_id === paymentId ? 'this payment' : payment_id;
  return reason === null ? 'nothing yet' : `nothing: ${reason.replaceAll('_', ' ')}`;
}

/** It shows both amounts and the reason, so that the operator who confirms has seen them. */
export const acceptQuestion = (candidate: AcceptanceCandidate): Html =>
  html`Accept the transfer of
    <strong>${candidate.amount} USDT</strong>
    (${(candidate.unmatched_reason ?? 'no reason against it').replaceAll('_', ' ')}, ${candidate.block_timestamp}) for
    ${candidate.payment_id}, which is ${candidate.status} and asks for
    <strong>${candidate.expected_amount} USDT</strong>? It becomes PAID for good.`;

type Moment = { at: string; what: string; detail: string; more: Html | null };

/** Everything that happened to a payment, in order. */
export const storyTable = (payment: OperatorsPayment, events: readonly DescribedEvent[], viewer: Viewer): Html =>
  table('What happened', [...ownStory(payment), ...events.flatMap((event) => eventStory(event, viewer))].sort(byTime), {
    When: ({ at }) => time(at),
    What: ({ what }) => what,
    Detail: ({ detail }) => detail,
    Do: ({ more }) => more,
  });

const byTime = (a: Moment, b: Moment): number => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0);

const moment = (at: string | null, what: string, detail = '', more: Html | null = null): Moment[] =>
  at === null ? [] : [{ at, what, detail, more }];

function ownStory(payment: OperatorsPayment): Moment[] {
  const { acceptance, status } = payment;
  return [
    ...moment(payment.created_at, 'created', `asks for ${payment.amount} ${payment.currency}`),
    ...payment.transfers.flatMap((transfer) =>
      moment(
        transfer.block_timestamp,
        'transfer',
        `${transfer.amount} USDT, pays ${paysText(transfer, payment.payment_id)}`,
      ),
    ),
    ...moment(
      acceptance?.accepted_at ?? null,
      'accepted',
      `by ${acceptance?.actor ?? ''}: ${acceptance?.reason ?? ''}`,
    ),
    ...moment(payment.paid_at, 'paid'),
    ...moment(payment.cancelled_at, 'cancelled'),
    ...(status === 'EXPIRED' ? moment(payment.expires_at, 'expired') : []),
    ...payment.incidents.flatMap(({ opened_at: opened, resolved_at: resolved, kind, resolved_by: by }) => [
      ...moment(opened, 'incident', kind.replaceAll('_', ' ')),
      ...moment(resolved, 'incident resolved', `by ${by ?? ''}`),
    ]),
  ];
}

function eventStory({ event, attempts }: DescribedEvent, viewer: Viewer): Moment[] {
  const name = event.event_type ?? 'PAID';
  const retry =
    event.status === 'failed' && mayCall(viewer, RecoverEvent.access)
      ? link(`/events/${event.event_id}/retry`, 'Deliver again')
      : null;
  return [
    ...moment(event.created_at, `webhook ${name}`, `${event.event_id}, ${event.status}`, retry),
    ...attempts.flatMap(({ started_at, n, http_status: status, error_category: error, duration_ms: ms }) =>
      moment(started_at, `attempt ${n} at ${name}`, `${status ?? error?.replaceAll('_', ' ') ?? ''} after ${ms} ms`),
    ),
  ];
}
