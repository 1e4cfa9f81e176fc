import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { DescribedEvent, OwnEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { time } from './parts.ts';

/** `order` is when it was, in milliseconds, as far as that is known. */
export type Moment = { at: string; order: number; what: string; detail: string; more: Html | null };

/** Everything that happened to a payment, in order. */
export const storyPart = (moments: readonly Moment[]): Html =>
  html`<section>
    <h2 id="story">What happened</h2>
    <ol class="story" aria-labelledby="story">
      ${[...moments].sort(byTime).map(
        ({ at, what, detail, more }) =>
          html`<li>
            ${time(at) as Html}
            <div><strong>${what}</strong> <span>${detail}</span> ${more ?? []}</div>
          </li>`,
      )}
    </ol>
  </section>`;

/** Two of one moment stay as they were told. */
const byTime = (a: Moment, b: Moment): number => a.order - b.order;

export const moment = (at: string | null, what: string, detail = '', more: Html | null = null): Moment[] =>
  at === null ? [] : [{ at, order: Date.parse(at), what, detail, more }];

/** A transfer to the wallet. A block knows whole seconds: one from the second of the creation came after it. */
export function transferMoments(blockTime: string, created: string, detail: string): Moment[] {
  const isOfThatSecond = blockTime.slice(0, 19) === created.slice(0, 19);
  const order = Date.parse(isOfThatSecond ? created : blockTime);
  return moment(blockTime, 'transfer', detail).map((one) => ({ ...one, order }));
}

export const words = (text: string): string => text.replaceAll('_', ' ');

/** Why an event was not delivered. One that was withdrawn is no failure of the receiver's. */
export function errorWords(category: string | null): string | null {
  if (category === 'superseded') return 'withdrawn: the payment was PAID first';
  return category && words(category);
}

type ToldEvent = Pick<DescribedEvent | OwnEvent, 'event' | 'attempts'>;

/** What its event was called, when it was made, and every attempt to deliver it. @param more what may be done about it. */
export const eventMoments = ({ event, attempts }: ToldEvent, more: Html | null = null): Moment[] => [
  ...moment(event.created_at, `webhook ${eventName(event)}`, `${event.event_id}, ${statusOf(event)}`, more),
  ...attempts.flatMap((attempt) =>
    moment(attempt.started_at, `attempt ${attempt.n} at ${eventName(event)}`, answerOf(attempt)),
  ),
];

/** No attempt says that an event was withdrawn. */
const statusOf = ({ status, error_category: error }: ToldEvent['event']): string =>
  error === 'superseded' ? `${errorWords(error)}` : status;

export const eventName = ({ event_type: type }: Pick<ToldEvent['event'], 'event_type'>): string => type ?? 'PAID';

const answerOf = ({
  http_status: status,
  error_category: error,
  duration_ms: ms,
}: ToldEvent['attempts'][number]): string =>
  `${[status === null ? null : `answered ${status}`, errorWords(error)]
    .filter((part) => part !== null)
    .join(', ')} after ${ms} ms`;
