import type { Author } from '@quittance/contracts/author.ts';
import {
  ListFailedEvents,
  ReadEvent,
  ReadEventOfPayment,
  RecoverEvent,
  type FailedEvent,
} from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { isId } from '@quittance/contracts/ids.ts';
import { olderThan, PAGE } from '@quittance/operator/row.ts';
import {
  eventView,
  retriedView,
  RETRY_MAX,
  retryEvents,
  showEvent,
  totalText,
  type Retried,
} from '@quittance/operator/webhooks.ts';
import type { Api } from './api.ts';
import { Failure } from './failure.ts';
import { confirm } from './person.ts';
import { own, show, type Asked, type Run } from './run.ts';
import { note, printResult } from './text.ts';

/** The dispatcher retries each in its own transaction; more at the same time would only wait for its pool. */
const AT_ONCE = 8;

export const webhookRuns: readonly Run[] = [
  own(showEvent, async (asked) => {
    const { api, values } = asked;
    const query = { before: values.before };
    const answer = isId('evt', values.id)
      ? await api.call(ReadEvent, { params: { event_id: values.id }, query })
      : await api.call(ReadEventOfPayment, { params: { payment_id: values.id }, query });
    const next = () => olderThan(answer.attempts, ({ started_at: at }) => at);
    show({ answer, view: () => eventView(answer), note: () => null, next }, asked);
  }),
  own(retryEvents, async (asked) => {
    const { api, values, options } = asked;
    const author = asked.author();
    const ids = values.all_failed ? await allFailed(asked) : [...new Set(values.event_id)];
    const events = await retryEach(api, ids, author);
    printResult({ events }, options, () => retriedView(events));
    failUnlessAllRetried(events);
  }),
];

/** All that have failed, once a person has seen how many that is. */
async function allFailed({ api, values: { merchant }, options }: Asked<{ merchant: string | undefined }>) {
  const { events, total } = await readFailed(api, merchant);
  if (events.length === 0) return [];
  const merchants = new Set(events.map(({ merchant_id }) => merchant_id)).size;
  const whose = merchant ?? `${merchants} ${merchants === 1 ? 'merchant' : 'merchants'}`;
  const these = total > events.length ? `the oldest ${events.length} of ${totalText(total)}` : `all ${events.length}`;
  const what = events.length === 1 ? 'the one failed event' : `${these} failed events`;
  await confirm(`Deliver ${what} of ${whose} again?`, options);
  if (total > events.length)
    note(`${RETRY_MAX} events at once are the most: repeat the command for the rest.`, options);
  return events.map(({ event_id }) => event_id);
}

/** The oldest RETRY_MAX of all failed events; `total` is how many there were when the last page was read. */
async function readFailed(api: Api, merchant: string | undefined) {
  const events: FailedEvent[] = [];
  for (;;) {
    const query = { status: 'failed', merchant_id: merchant, after: events.at(-1)?.event_id };
    const page = await api.call(ListFailedEvents, { query });
    events.push(...page.events);
    if (page.events.length < PAGE || events.length >= RETRY_MAX) {
      return { events: events.slice(0, RETRY_MAX), total: Math.max(page.total, events.length) };
    }
  }
}

/**
 * Retries each event by itself: one outcome does not affect the others. Results are in the order of `ids`.
 * Once the dispatcher answers to none of several, the rest is not tried: thousands of events would wait for thousands of time limits.
 */
async function retryEach(api: Api, ids: readonly string[], author: Author): Promise<Retried[]> {
  const results: Retried[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => retryOne(api, id, author)));
    results.push(...some);
    if (some.every(({ outcome }) => outcome === 'unanswered')) break;
  }
  return [...results, ...ids.slice(results.length).map(notTried)];
}

const notTried = (event_id: string): Retried => ({
  ...{ event_id, outcome: 'not_tried', reason: 'webhook-dispatcher had stopped answering', delivery: null },
});

async function retryOne(api: Api, event_id: string, author: Author): Promise<Retried> {
  try {
    const delivery = await api.call(RecoverEvent, { params: { event_id }, author });
    return { event_id, outcome: 'retried', reason: null, delivery };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'wrongUse') throw error;
    const outcome = error.kind === 'refused' ? 'refused' : 'unanswered';
    return { event_id, outcome, reason: error.message, delivery: null };
  }
}

function failUnlessAllRetried(result: readonly Retried[]): void {
  const not = result.filter(({ outcome }) => outcome !== 'retried');
  if (not.length === 0) return;
  const unanswered = not.find(({ outcome }) => outcome === 'unanswered');
  const [event] = not;
  const which =
    result.length === 1
      ? `${event?.event_id ?? ''} was not retried`
      : `${not.length} of ${result.length} events were not retried`;
  const why = (unanswered ?? event)?.reason ?? '';
  throw new Failure(unanswered === undefined ? 'refused' : 'unreachable', `${which}: ${why}`);
}
