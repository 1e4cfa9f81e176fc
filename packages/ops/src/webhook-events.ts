import type { Author } from '@quittance/contracts/author.ts';
import type { ResponseOf } from '@quittance/contracts/call.ts';
import {
  FAILED_EVENTS_MAX,
  ListFailedEvents,
  RecoverEvent,
  type FailedEvent,
} from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import type { Api } from './api.ts';
import { Failure } from './failure.ts';
import { PAGE } from './output.ts';

/** What became of one event. `delivery` is its record when a new cycle began, else `reason` says why none did. */
export type Retried = {
  event_id: string;
  outcome: 'retried' | 'refused' | 'unanswered' | 'not_tried';
  reason: string | null;
  delivery: DeliveryRecord | null;
};

/** The most that is retried at once, so that a command ends. */
export const RETRY_MAX = 10_000;
/** The dispatcher retries each in its own transaction; more at once would only wait for its pool. */
const AT_ONCE = 8;

export const totalText = (total: number): string =>
  total < FAILED_EVENTS_MAX ? String(total) : `${FAILED_EVENTS_MAX} or more`;

type FailedEvents = ResponseOf<typeof ListFailedEvents>;

/** One page of failed events, oldest first, and how many there are in all. */
export const readFailed = (api: Api, of: { merchant?: string | undefined; after?: string | undefined }) =>
  api.call(ListFailedEvents, { query: { status: 'failed', merchant_id: of.merchant, after: of.after } });

/** The oldest RETRY_MAX of all failed events; `total` is how many there were when the last page was read. */
export async function allFailed(api: Api, merchant: string | undefined): Promise<FailedEvents> {
  const events: FailedEvent[] = [];
  for (;;) {
    const page = await readFailed(api, { merchant, after: events.at(-1)?.event_id });
    events.push(...page.events);
    if (page.events.length < PAGE || events.length >= RETRY_MAX) {
      return { events: events.slice(0, RETRY_MAX), total: Math.max(page.total, events.length) };
    }
  }
}

/**
 * Retries each event by itself: what happens to one says nothing about the others. Results come in the order of `ids`.
 * Once the dispatcher answers to none of several, the rest is not tried: thousands of events would wait for thousands of time limits.
 */
export async function retryEvents(api: Api, ids: readonly string[], author: Author): Promise<Retried[]> {
  const results: Retried[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => retryEvent(api, id, author)));
    results.push(...some);
    if (some.every(({ outcome }) => outcome === 'unanswered')) break;
  }
  return [...results, ...ids.slice(results.length).map(notTried)];
}

const notTried = (id: string): Retried => ({
  event_id: id,
  outcome: 'not_tried',
  reason: 'webhook-dispatcher had stopped answering',
  delivery: null,
});

async function retryEvent(api: Api, id: string, author: Author): Promise<Retried> {
  try {
    const delivery = await api.call(RecoverEvent, { params: { event_id: id }, author });
    return { event_id: id, outcome: 'retried', reason: null, delivery };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'wrongUse') throw error;
    const outcome = error.kind === 'refused' ? 'refused' : 'unanswered';
    return { event_id: id, outcome, reason: error.message, delivery: null };
  }
}
