import type {
  AttemptRecord,
  DescribedEvent,
  FailedEvent,
} from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { LANE_DUE_MAX, type Lane } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import { record, sections, shortTime, table, type Columns } from '../text.ts';
import type { Retried } from '../webhook-events.ts';

export const eventView = ({ event, lane, attempts }: DescribedEvent): string =>
  `${record({
    event: event.event_id,
    type: typeText(event),
    payment: event.payment_id,
    merchant: event.merchant_id,
    created: event.created_at,
    status: statusText(event),
    attempts: `${event.attempts} in cycle ${event.cycle}, which began ${shortTime(event.cycle_started_at)}`,
    interruptions: event.interruptions === 0 ? 'none' : String(event.interruptions),
    'last error': event.error_category,
    // How the others wait says nothing about an event that has ended.
    ...(event.status === 'pending' && lane !== null && { lane: laneText(lane) }),
    ...(lane?.private_target && { receiver: hostText(lane) }),
  })}\n\n${sections([['attempts', table(attempts, attemptColumns)]])}`;

export const lanesView = ({ lanes }: { lanes: readonly Lane[] }): string =>
  table(lanes, {
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
  });

export const failedView = ({ events }: { events: readonly FailedEvent[] }): string =>
  table(events, {
    event: 'event_id',
    type: typeText,
    merchant: 'merchant_id',
    payment: 'payment_id',
    'last attempt': 'last_attempt_at',
    attempts: 'attempts',
    cycle: 'cycle',
    error: 'error_category',
  });

export const retriedView = ({ events }: { events: readonly Retried[] }): string =>
  table(events, {
    event: 'event_id',
    payment: (event) => event.delivery?.payment_id,
    result: (event) => event.outcome.replaceAll('_', ' '),
    'why not': 'reason',
  });

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

const typeText = ({ event_type: type }: { event_type: string | null }): string => type ?? 'PAID';

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
