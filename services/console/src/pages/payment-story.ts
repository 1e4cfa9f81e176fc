import type { Html } from '@quittance/checkout-page/html.ts';
import type { LedgerEntry, OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import { RecoverEvent, type DescribedEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { link } from './parts.ts';
import { paysText } from './payment.ts';
import { eventMoments, eventName, moment, storyPart, transferMoments, words, type Moment } from './story.ts';

/** Everything that happened to a payment: by itself, on the chain, at the merchant's webhook, and by whose hand. */
export const paymentStory = (payment: OperatorsPayment, events: readonly DescribedEvent[], viewer: Viewer): Html =>
  storyPart([...ownStory(payment), ...events.flatMap((event) => eventStory(event, viewer))]);

const byWhom = (actor: string | null, reason: string | null): string =>
  `by ${actor ?? 'nobody'}${reason === null ? '' : `: ${reason}`}`;

function ownStory(payment: OperatorsPayment): Moment[] {
  const { acceptance, cancellation, status } = payment;
  return [
    ...moment(payment.created_at, 'created', `asks for ${payment.amount} ${payment.currency}`),
    ...payment.transfers.flatMap((transfer) => transferStory(transfer, payment)),
    ...(acceptance === null
      ? []
      : moment(acceptance.accepted_at, 'accepted', byWhom(acceptance.actor, acceptance.reason))),
    ...moment(payment.paid_at, 'paid'),
    ...moment(payment.cancelled_at, 'cancelled', cancellation ? byWhom(cancellation.actor, cancellation.reason) : ''),
    ...(status === 'EXPIRED' ? moment(payment.expires_at, 'expired') : []),
    ...payment.incidents.flatMap(({ opened_at: opened, kind, ...incident }) => [
      ...moment(opened, 'incident', words(kind)),
      ...moment(incident.resolved_at, 'incident resolved', byWhom(incident.resolved_by, incident.resolved_reason)),
    ]),
  ];
}

/** Of what was observed the ledger keeps the latest. */
function transferStory(
  transfer: LedgerEntry,
  { payment_id: paymentId, created_at: created }: OperatorsPayment,
): Moment[] {
  const { amount, block_number: block, transaction_id: id, phase } = transfer;
  return [
    ...transferMoments(transfer.block_timestamp, created, `${amount} USDT in block ${block}, transaction ${id}`),
    ...moment(
      transfer.observed_at,
      phase,
      `${transfer.confirmations} of ${transfer.confirmations_required} confirmations, pays ${paysText(transfer, paymentId)}`,
    ),
  ];
}

function eventStory(described: DescribedEvent, viewer: Viewer): Moment[] {
  const { event, retries = [] } = described;
  const name = eventName(event);
  const retry =
    event.status === 'failed' && event.error_category !== 'superseded' && mayCall(viewer, RecoverEvent.access)
      ? link(`/events/${event.event_id}/retry`, 'Deliver again')
      : null;
  return [
    ...eventMoments(described, retry),
    ...retries.flatMap(({ at, actor, reason }) => moment(at, `${name} delivered again`, byWhom(actor, reason))),
    ...(event.status === 'pending' ? moment(event.next_attempt_at, `next attempt at ${name}`) : []),
  ];
}
