import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { LedgerEntry, OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import type { DescribedEvent, OwnEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { PaymentDetails, PaymentWarning } from '@quittance/contracts/api/payment.ts';
import { paysText, warningTexts } from '@quittance/operator/payments.ts';
import { words } from '@quittance/operator/view.ts';
import { retryOf, typeOf } from '@quittance/operator/webhooks.ts';
import { cell, timeOf } from './cell.ts';
import type { Viewer } from './frame.ts';
import { capital } from './view.ts';

/** `order` is when it was, in milliseconds, as far as that is known. */
type Moment = { at: string; order: number; what: string; detail: string; more: Html | null };

/** Everything that happened to a payment, in order. */
const storyPart = (moments: readonly Moment[]): Html =>
  html`<section>
    <h2 id="story">What happened</h2>
    <ol class="story" aria-labelledby="story">
      ${[...moments].sort(byTime).map(
        ({ at, what, detail, more }) =>
          html`<li>
            ${timeOf(at, 'medium')}
            <div><strong>${what}</strong> <span>${detail}</span> ${more ?? []}</div>
          </li>`,
      )}
    </ol>
  </section>`;

/** Two of one moment stay as they were told. */
const byTime = (a: Moment, b: Moment): number => a.order - b.order;

const moment = (at: string | null, what: string, detail = '', more: Html | null = null): Moment[] =>
  at === null ? [] : [{ at, order: Date.parse(at), what, detail, more }];

/** A transfer to the wallet. A block knows whole seconds: one from the second of the creation came after it. */
function transferMoments(blockTime: string, created: string, detail: string): Moment[] {
  const isOfThatSecond = blockTime.slice(0, 19) === created.slice(0, 19);
  const order = Date.parse(isOfThatSecond ? created : blockTime);
  return moment(blockTime, 'transfer', detail).map((one) => ({ ...one, order }));
}

/** Why an event was not delivered. One that was withdrawn is no failure of the receiver's. */
export function errorWords(category: string | null): string | null {
  if (category === 'superseded') return 'withdrawn: the payment was PAID first';
  return category && words(category);
}

type ToldEvent = Pick<DescribedEvent | OwnEvent, 'event' | 'attempts'>;

/** What its event was called, when it was made, and every attempt to deliver it. @param more what may be done about it. */
export const eventMoments = ({ event, attempts }: ToldEvent, more: Html | null = null): Moment[] => [
  ...moment(event.created_at, `webhook ${typeOf(event)}`, `${event.event_id}, ${statusOf(event)}`, more),
  ...attempts.flatMap((attempt) =>
    moment(attempt.started_at, `attempt ${attempt.n} at ${typeOf(event)}`, answerOf(attempt)),
  ),
];

/** A withdrawn event has no attempt that shows it. */
const statusOf = ({ status, error_category: error }: ToldEvent['event']): string =>
  error === 'superseded' ? `${errorWords(error)}` : status;

const answerOf = ({
  http_status: status,
  error_category: error,
  duration_ms: ms,
}: ToldEvent['attempts'][number]): string =>
  `${[status === null ? null : `answered ${status}`, errorWords(error)]
    .filter((part) => part !== null)
    .join(', ')} after ${ms} ms`;

/** Everything that happened to a payment: its states, the chain, the merchant's webhook, and who did what. */
export const paymentStory = (payment: OperatorsPayment, events: readonly DescribedEvent[], viewer: Viewer): Html =>
  storyPart([...storyOf(payment), ...events.flatMap((event) => eventStory(event, viewer))]);

const byWhom = (actor: string | null, reason: string | null): string =>
  `by ${actor ?? 'nobody'}${reason === null ? '' : `: ${reason}`}`;

function storyOf(payment: OperatorsPayment): Moment[] {
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
  const name = typeOf(event);
  const mayBeRetried = event.status === 'failed' && event.error_category !== 'superseded';
  const retry = mayBeRetried ? cell(retryOf(event.event_id), viewer) : null;
  return [
    ...eventMoments(described, retry),
    ...retries.flatMap(({ at, actor, reason }) => moment(at, `${name} delivered again`, byWhom(actor, reason))),
    ...(event.status === 'pending' ? moment(event.next_attempt_at, `next attempt at ${name}`) : []),
  ];
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

export const warningsPart = (warnings: readonly PaymentWarning[]): Html[] =>
  warnings.map((warning) => {
    const { is, means } = warningTexts[warning];
    return html`<p class="problem" role="alert">${capital(is)}. ${means}</p>`;
  });
