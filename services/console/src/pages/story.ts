import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { LedgerEntry, OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import {
  RecoverEvent,
  type AttemptRecord,
  type DescribedEvent,
} from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { link, time } from './parts.ts';
import { paysText } from './payment.ts';

/** `order` is when it was, in milliseconds, as far as that is known. */
type Moment = { at: string; order: number; what: string; detail: string; more: Html | null };

/** Everything that happened to a payment, in order: by itself, on the chain, at the merchant's webhook, and by whose hand. */
export function storyPart(payment: OperatorsPayment, events: readonly DescribedEvent[], viewer: Viewer): Html {
  const moments = [...ownStory(payment), ...events.flatMap((event) => eventStory(event, viewer))].sort(byTime);
  return html`<section>
    <h2 id="story">What happened</h2>
    <ol class="story" aria-labelledby="story">
      ${moments.map(
        ({ at, what, detail, more }) =>
          html`<li>
            ${time(at) as Html}
            <div><strong>${what}</strong> <span>${detail}</span> ${more ?? []}</div>
          </li>`,
      )}
    </ol>
  </section>`;
}

/** Two of one moment stay as they were told. */
const byTime = (a: Moment, b: Moment): number => a.order - b.order;

const moment = (at: string | null, what: string, detail = '', more: Html | null = null): Moment[] =>
  at === null ? [] : [{ at, order: Date.parse(at), what, detail, more }];

const words = (text: string): string => text.replaceAll('_', ' ');

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
  // A block knows whole seconds: one from the second of the creation came after it.
  const isOfThatSecond = transfer.block_timestamp.slice(0, 19) === created.slice(0, 19);
  const order = Date.parse(isOfThatSecond ? created : transfer.block_timestamp);
  return [
    ...moment(transfer.block_timestamp, 'transfer', `${amount} USDT in block ${block}, transaction ${id}`).map(
      (one) => ({ ...one, order }),
    ),
    ...moment(
      transfer.observed_at,
      phase,
      `${transfer.confirmations} of ${transfer.confirmations_required} confirmations, pays ${paysText(transfer, paymentId)}`,
    ),
  ];
}

function eventStory({ event, attempts, retries = [] }: DescribedEvent, viewer: Viewer): Moment[] {
  const name = event.event_type ?? 'PAID';
  const retry =
    event.status === 'failed' && mayCall(viewer, RecoverEvent.access)
      ? link(`/events/${event.event_id}/retry`, 'Deliver again')
      : null;
  return [
    ...moment(event.created_at, `webhook ${name}`, `${event.event_id}, ${event.status}`, retry),
    ...attempts.flatMap((attempt) => moment(attempt.started_at, `attempt ${attempt.n} at ${name}`, answerOf(attempt))),
    ...retries.flatMap(({ at, actor, reason }) => moment(at, `${name} delivered again`, byWhom(actor, reason))),
    ...(event.status === 'pending' ? moment(event.next_attempt_at, `next attempt at ${name}`) : []),
  ];
}

const answerOf = ({ http_status: status, error_category: error, duration_ms: ms }: AttemptRecord): string =>
  `${[status === null ? null : `answered ${status}`, error === null ? null : words(error)]
    .filter((part) => part !== null)
    .join(', ')} after ${ms} ms`;
