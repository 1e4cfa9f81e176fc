import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import type { Api } from './api.ts';
import { Failure } from './failure.ts';

export type FailedEvent = DeliveryRecord & { merchant_id: string; cycle: number; interruptions: number };
/** `total` up to TOTAL_MAX. */
export type FailedEvents = { events: FailedEvent[]; total: number };

/** What became of one event. `delivery` is its record when a new cycle began, else `reason` says why none did. */
export type Retried = {
  event_id: string;
  outcome: 'retried' | 'refused' | 'unanswered' | 'not_tried';
  reason: string | null;
  delivery: DeliveryRecord | null;
};

/** A page that is this long may not be the last. */
export const PAGE = 100;
/** The dispatcher counts so far and no further. */
const TOTAL_MAX = 100_000;
/** The most that is retried at once, so that a command ends. */
export const RETRY_MAX = 10_000;
/** The dispatcher does each in a transaction of its own; more at once would only wait for its pool. */
const AT_ONCE = 8;

export const totalText = (total: number): string => (total < TOTAL_MAX ? String(total) : `${TOTAL_MAX} or more`);

/** One page of failed events, oldest first, and how many there are in all. */
export async function readFailed(
  api: Api,
  { merchant, after }: { merchant?: string | undefined; after?: string | undefined },
): Promise<FailedEvents> {
  const query = {
    status: 'failed',
    ...(merchant !== undefined && { merchant_id: merchant }),
    ...(after !== undefined && { after }),
  };
  return (await api.call('webhook-dispatcher', { method: 'GET', path: '/events', query })) as FailedEvents;
}

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
export async function retryEvents(
  api: Api,
  ids: readonly string[],
  author: { actor: string; reason: string },
): Promise<Retried[]> {
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

async function retryEvent(api: Api, id: string, author: object): Promise<Retried> {
  try {
    const request = { method: 'POST', path: `/events/${id}/recover`, json: author } as const;
    const delivery = (await api.call('webhook-dispatcher', request)) as DeliveryRecord;
    return { event_id: id, outcome: 'retried', reason: null, delivery };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'wrongUse') throw error;
    const outcome = error.kind === 'refused' ? 'refused' : 'unanswered';
    return { event_id: id, outcome, reason: error.message, delivery: null };
  }
}
