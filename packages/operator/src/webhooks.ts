import {
  FAILED_EVENTS_MAX,
  ListFailedEvents,
  ReadEvent,
  RecoverEvent,
  type AttemptRecord,
  type DescribedEvent,
  type FailedEvent,
} from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { LANE_DUE_MAX, ListLanes, type Lane } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import { eventId, eventOrPaymentId, flag, merchantId, moment, option, word, words as wordList } from './field.ts';
import { callRow, ownRow, PAGE } from './row.ts';
import { facts, shortTime, table, type Columns, type Value, type View } from './view.ts';

/** How many events one command retries at most, so that it ends. */
export const RETRY_MAX = 10_000;

const ofMerchant = option('--merchant <merchant>', merchantId, 'only those of this merchant');

export const showEvent = ownRow('webhook show', ReadEvent.access, {
  does: 'show an event of any merchant, why it still waits, and its newest hundred attempts; by the id of the event or of its payment',
  more: 'The URL of the merchant, the body and the keys are never shown; only the host is.',
  fields: {
    id: word('event', eventOrPaymentId, 'event id, or the id of its payment'),
    before: option('--before <time>', moment, 'only attempts that began before this time'),
  },
});

export const retryEvents = ownRow('webhook retry', RecoverEvent.access, {
  audited: true,
  does: 'begin a new delivery cycle for failed events; the id and the body of each stay',
  more:
    `The present URL and signing key are used, and ${RETRY_MAX.toLocaleString('en-US')} events at once are the most. Each event is retried with its line in the audit: ` +
    'you can interrupt the command and repeat it. One refusal makes the exit code 1. When webhook-dispatcher stops answering, the rest is not ' +
    'tried, and the exit code is 3.',
  asks: true,
  fields: {
    event_id: wordList('events', eventId, 'event ids'),
    all_failed: flag('--all-failed', 'every event that has failed by now'),
    merchant: option('--merchant <merchant>', merchantId, 'with --all-failed: only those of this merchant'),
  },
  missing: ({ event_id: ids, all_failed: all, merchant }) =>
    all === ids.length > 0
      ? 'Give event ids, or --all-failed.'
      : !all && merchant !== undefined
        ? '--merchant belongs to --all-failed.'
        : null,
  question:
    ({ event_id: [id = ''] }, services) =>
    async () => {
      const { event } = await services.call(ReadEvent, { params: { event_id: id } });
      return `Begin a new delivery cycle of ${id}, which is ${event.status} after ${event.attempts} attempts? Its id and body stay.`;
    },
  page: { path: '/events/:event_id/retry', label: 'Deliver again', back: '/webhooks' },
});

export const webhookRows = [
  showEvent,
  callRow('webhook lanes', ListLanes, {
    does: 'list the merchants whose events wait, the hundred that wait longest, and the reason',
    more: 'A merchant has a lane for PAID events (`paid`) and, if it chose other types as well, one for these (`notices`), which waits while PAID events are due.',
    fields: {
      merchant: option('--merchant <merchant>', merchantId, 'only this one, whether it waits or not'),
      held: flag('--held', 'those of blocked accounts, which wait on purpose, instead of the others'),
    },
    given: ({ merchant, held }) => ({
      query: merchant === undefined ? { held: String(held) } : { merchant_id: merchant },
    }),
    view: ({ lanes }) => [lanesTable(lanes)],
    note: ({ lanes, total }) => (total > lanes.length ? `${lanes.length} of ${total}.` : null),
  }),
  callRow('webhook failed', ListFailedEvents, {
    does: 'list failed events, the oldest hundred: their attempts are used up, or they waited too long for a dead receiver',
    fields: {
      merchant: ofMerchant,
      after: option('--after <event>', eventId, 'go on after this one, the last of the page before'),
    },
    given: ({ merchant, after }) => ({ query: { status: 'failed', merchant_id: merchant, after } }),
    view: ({ events }) => [failedTable(events)],
    next({ events, total }) {
      const last = events.at(PAGE - 1);
      if (last === undefined || total === PAGE) return null;
      return { of: `${PAGE} of ${totalText(total)}`, options: { after: last.event_id } };
    },
  }),
  retryEvents,
];

export const totalText = (total: number): string =>
  total < FAILED_EVENTS_MAX ? String(total) : `${FAILED_EVENTS_MAX} or more`;

export const eventView = ({ event, lane, attempts }: DescribedEvent): View => [
  facts({
    event: event.event_id,
    type: typeOf(event),
    payment: event.payment_id,
    merchant: event.merchant_id,
    created: event.created_at,
    status: statusText(event),
    attempts: `${event.attempts} in cycle ${event.cycle}, which began ${shortTime(event.cycle_started_at)}`,
    interruptions: event.interruptions === 0 ? 'none' : String(event.interruptions),
    'last error': event.error_category,
    // The lane does not matter for an event that has ended.
    ...(event.status === 'pending' && lane !== null && { lane: laneText(lane) }),
    ...(lane?.private_target && { receiver: hostText(lane) }),
  }),
  table('attempts', attempts, attemptColumns),
];

const attemptColumns: Columns<AttemptRecord> = {
  started: 'started_at',
  cycle: 'cycle',
  n: 'n',
  'took ms': 'duration_ms',
  status: 'http_status',
  result: (attempt) => attempt.error_category ?? 'delivered',
  address: 'remote_ip',
  key: 'key_id',
};

export const lanesTable = (lanes: readonly Lane[], title: string | null = null) =>
  table(
    title,
    lanes,
    {
      merchant: 'merchant_id',
      events: 'events',
      host: hostText,
      due: (lane) => (lane.due < LANE_DUE_MAX ? lane.due : `${LANE_DUE_MAX} or more`),
      'oldest since': 'oldest_due_at',
      state: stateText,
      failures: 'failures',
      'failing since': 'failing_since',
      'last error': 'error_category',
      opened: (lane) => timesText(lane.times_opened),
    },
    'No events wait.',
  );

export const failedTable = (events: readonly FailedEvent[], title: string | null = null) =>
  table(
    title,
    events,
    {
      type: typeOf,
      error: 'error_category',
      'last attempt': 'last_attempt_at',
      attempts: 'attempts',
      cycle: 'cycle',
      payment: 'payment_id',
      merchant: 'merchant_id',
      event: 'event_id',
      actions: ({ event_id }) => retryOf(event_id),
    },
    'No event has failed.',
  );

export const retryOf = (event_id: string): Value => ({
  ...{ action: 'webhook retry', label: 'Deliver again', values: { event_id } },
});

/** The outcome for one event. `delivery` is its record if a new cycle began; otherwise `reason` explains why none did. */
export type Retried = {
  event_id: string;
  outcome: 'retried' | 'refused' | 'unanswered' | 'not_tried';
  reason: string | null;
  delivery: DeliveryRecord | null;
};

export const retriedView = (events: readonly Retried[]): View => [
  table(null, events, {
    event: 'event_id',
    payment: (event) => event.delivery?.payment_id,
    result: (event) => event.outcome.replaceAll('_', ' '),
    'why not': 'reason',
  }),
];

/** The older releases' events have no type. */
export const typeOf = ({ event_type: type }: { event_type: string | null }): string => type ?? 'PAID';

function statusText(event: DescribedEvent['event']): string {
  const { status, in_flight, next_attempt_at, delivered_at, error_category: error } = event;
  if (status === 'delivered') return `delivered ${shortTime(delivered_at ?? '')}`;
  if (error === 'superseded') return 'failed: withdrawn, because the payment was PAID first; it cannot be retried';
  if (status === 'failed') return 'failed: no attempt is left until an operator or the merchant retries it';
  if (in_flight) return `pending: being sent; sent again ${shortTime(next_attempt_at ?? '')} if that is cut off`;
  return `pending: due ${shortTime(next_attempt_at ?? '')}`;
}

/** One in a private network is dialled at that address, and at no other. */
const hostText = ({ host, private_target: target }: Lane): string | null => (target ? `${host} at ${target}` : host);

/** Why its events wait, and what for. */
function laneText(lane: Lane): string {
  const waiting =
    lane.due === 0 ? 'nothing else is due' : `${lane.due} due, oldest ${shortTime(lane.oldest_due_at ?? '')}`;
  return `${stateText(lane)}; ${waiting}`;
}

function stateText({ events, held, host, circuit_state, open_until, put_off_until, recovery_limit }: Lane): string {
  if (held) return 'held: the account is blocked';
  if (host === null) return 'no endpoint yet';
  switch (circuit_state) {
    case 'open':
      return `circuit open until ${shortTime(open_until ?? '')}`;
    case 'half_open':
      return 'circuit half-open: a probe is in flight';
    case 'recovering':
    case 'closed':
      if (put_off_until !== null) {
        const why = events === 'notices' ? 'PAID events go first, or host cannot be reached' : 'host cannot be reached';
        return `${why}; next attempt ${shortTime(put_off_until)}`;
      }
      return recovery_limit === null ? 'circuit closed' : `circuit recovering: ${recovery_limit} at a time`;
  }
}

function timesText(times: number): string | null {
  if (times === 0) return null;
  return times === 1 ? 'once' : `${times} times`;
}
