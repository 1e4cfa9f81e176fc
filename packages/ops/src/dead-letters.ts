import { connectBroker, type Broker } from '@quittance/messaging/broker/broker.ts';
import { bindings } from '@quittance/messaging/broker/topology.ts';
import type { DeadLetterAction } from '@quittance/messaging/dead-letter/actions.ts';
import {
  discardDeadLetters,
  listDeadLetterActions,
  listDeadLetters,
  readQueues,
  redriveDeadLetters,
} from '@quittance/messaging/dead-letter/dead-letter.ts';
import type { DeadLetter } from '@quittance/messaging/dead-letter/message.ts';
import type { ValuesOf } from '@quittance/operator/field.ts';
import { DONE_MAX, deadLetters as rows } from '@quittance/operator/machinery.ts';
import { facts, table, text, type View } from '@quittance/operator/view.ts';
import { parseAmqpUrls } from '@quittance/runtime/amqp-urls.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { needed } from './api.ts';
import type { Config } from './config.ts';
import { Failure } from './failure.ts';
import { confirm } from './person.ts';
import { own, type Asked, type Run } from './run.ts';
import { note, printResult, shortened } from './text.ts';

/** The most that is looked through for a summary. */
const LOOKED_AT_MAX = 10_000;

/** What a command may name as a queue. */
export const queues: readonly string[] = bindings.map(({ queue }) => queue);

/** Messages that a service could not process. Read from RabbitMQ itself, since no service owns them. */
export const deadLetterRuns: readonly Run[] = [
  own(rows.summary, async ({ config, values: { queue }, options }) => {
    const { letters, idle } = await withBroker(config, async (broker) => ({
      letters: await listDeadLetters(broker, { queue, limit: LOOKED_AT_MAX }),
      idle: (await readQueues(broker, queue)).filter(({ consumers }) => consumers === 0),
    }));
    const unconsumed = idle.map(({ queue: name }) => name);
    printResult({ groups: summaryOf(letters), queues_without_consumer: unconsumed }, options, summaryView);
    for (const name of unconsumed) note(`No process consumes ${name}: its messages wait.`, options);
    if (letters.length === LOOKED_AT_MAX) note(`Of the first ${LOOKED_AT_MAX}; there may be more.`, options);
  }),
  own(rows.list, async ({ config, values, options }) => {
    const found = await withBroker(config, async (broker) => {
      const total = await countIn(broker, values.queue);
      return { dead_letters: await listDeadLetters(broker, values), total };
    });
    printResult(found, options, lettersView);
    const shown = found.dead_letters.length;
    if (shown === values.limit && shown < found.total) note(`${shown} of ${found.total}; --limit shows more.`, options);
  }),
  own(rows.show, async ({ config, values: { queue, message: messageId }, options }) => {
    const [letter] = await withBroker(config, (broker) => listDeadLetters(broker, { queue, messageId }));
    if (letter === undefined) throw notThere(queue, messageId);
    printResult(letter, options, letterView);
  }),
  // Sending one back is safe: its handler processes a message once, however often it is delivered. Many may be too much for a service.
  own(rows.redrive, (asked) =>
    done(asked, {
      ...{
        run: redriveDeadLetters,
        field: 'redriven',
        title: 'sent back',
        question: 'Send … back to',
        asksForOne: false,
      },
    }),
  ),
  // What a discarded message would have done never happens, so even one is asked about, and a reason is required.
  own(rows.discard, (asked) =>
    done(asked, {
      ...{ run: discardDeadLetters, field: 'discarded', title: 'discarded', question: 'Discard for good … of' },
      asksForOne: true,
    }),
  ),
  own(rows.audit, async ({ config, values, options }) => {
    const actions = await withBroker(config, (broker) => listDeadLetterActions(broker, values));
    printResult({ actions }, options, actionsView);
  }),
];

type Deed = {
  run: typeof redriveDeadLetters;
  /** Its count in the JSON, and in the text. */
  field: 'redriven' | 'discarded';
  title: string;
  question: string;
  asksForOne: boolean;
};

/** What is done to one dead letter of a queue, or to those that the options choose. */
async function done(
  { config, values, options, ...asked }: Asked<ValuesOf<typeof rows.redrive.fields>>,
  { run, field, title, question, asksForOne }: Deed,
): Promise<void> {
  const { message: messageId, queue, ...choice } = values;
  const author = asked.author();
  const chosen = { ...choice, queue, messageId, limit: Math.min(choice.limit, DONE_MAX) };
  const { count, left } = await withBroker(config, async (broker) => {
    const dead = await countIn(broker, queue);
    if (messageId === undefined || asksForOne) await confirmMany(broker, chosen, options, question);
    const gone = await run(broker, { ...chosen, author });
    return { count: gone, left: Math.max(0, dead - gone) };
  });
  if (messageId !== undefined && count === 0) throw notThere(queue, messageId);
  printResult({ [field]: count, left }, options, () => [facts({ [title]: String(count), 'still dead': String(left) })]);
}

type Chosen = { queue: string; messageId: string | undefined; limit: number };

/** Says how many it would be before it asks. Nothing is asked when there are none. */
async function confirmMany(
  broker: Broker,
  chosen: Chosen,
  options: { yes: boolean; json: boolean },
  question: string,
): Promise<void> {
  if (options.yes || options.json) return;
  const { length } = await listDeadLetters(broker, { ...chosen, limit: LOOKED_AT_MAX });
  if (length === 0) return;
  const some = length > chosen.limit ? `the oldest ${chosen.limit} of ${length}` : `all ${length}`;
  const these = length === 1 ? 'the one dead letter' : `${some} dead letters`;
  await confirm(`${question.replace('…', these)} ${chosen.queue}?`, options);
}

/**
 * Before any letter is read: RabbitMQ returns letters that were read to their queue with a short delay.
 * @param queue all queues when absent.
 */
const countIn = async (broker: Broker, queue: string | undefined): Promise<number> =>
  (await readQueues(broker, queue)).reduce((sum, { dead }) => sum + dead, 0);

const notThere = (queue: string, messageId: string): Failure =>
  new Failure('refused', `${queue} has no dead letter ${messageId}.`);

/**
 * Lends a connection to RabbitMQ.
 * @throws Failure `unreachable` with what the connection complained of, `wrongUse` without an address, and what `use` throws.
 */
export async function withBroker<T>(config: Config, use: (broker: Broker) => Promise<T>): Promise<T> {
  const url = needed('AMQP_URL', config.amqpUrl);
  // The connection only logs why it fails, because it keeps trying.
  let complaint = '';
  const keepComplaint = {
    write: (line: string): void => {
      complaint = (JSON.parse(line) as { error?: { message?: string } }).error?.message ?? complaint;
    },
  };
  const broker = connectBroker({
    url,
    name: 'ops',
    logger: createLogger({ service: 'ops', level: 'warn' }, keepComplaint),
    metrics: createMetrics({ service: 'ops', processMetrics: false }),
  });
  try {
    return await use(broker);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const message = error instanceof Error ? error.message : String(error);
    const why = complaint === '' ? message : `${message}: ${complaint}`;
    throw new Failure(
      'unreachable',
      `${why} (${parseAmqpUrls(url)
        .map((one) => new URL(one).host)
        .join(', ')})`,
      { cause: error },
    );
  } finally {
    await broker.close();
  }
}

/** In a table the body would push everything else off the screen; the view of one has it. */
const lettersView = ({ dead_letters }: { dead_letters: readonly DeadLetter[] }): View => [
  table(null, dead_letters, {
    queue: 'queue',
    message: 'message_id',
    'dead since': 'first_seen',
    reason: 'reason',
    error: (letter) => letter.error && shortened(letter.error, 80),
  }),
];

const letterView = (letter: DeadLetter): View => [
  facts({
    message: letter.message_id,
    name: letter.version === null ? letter.name : `${letter.name}, version ${letter.version}`,
    queue: letter.queue,
    'dead since': letter.first_seen,
    reason: letter.reason,
    error: letter.error,
    request: letter.request_id,
  }),
  text(bodyText(letter.body), 'body'),
];

const actionsView = ({ actions }: { actions: readonly DeadLetterAction[] }): View => [
  table(null, actions, {
    when: 'at',
    who: 'actor',
    what: 'action',
    queue: ({ letter }) => letter.queue,
    message: ({ letter }) => letter.message_id,
    why: 'reason',
  }),
];

/** Indented when it is JSON. It may be anything. */
function bodyText(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // Not being JSON may be why it is here.
    return body;
  }
}

/** Dead letters that probably have one story. */
type Group = {
  queue: string;
  name: string;
  reason: string;
  error: string | null;
  dead: number;
  oldest: string | null;
  newest: string | null;
};

const summaryView = ({ groups }: { groups: readonly Group[] }): View => [
  table(null, groups, {
    queue: 'queue',
    name: 'name',
    dead: 'dead',
    oldest: 'oldest',
    newest: 'newest',
    reason: 'reason',
    'error, of one': (group) => group.error && shortened(group.error, 80),
  }),
];

/**
 * The largest group first. Ids and numbers in errors are no difference.
 * @param letters those of each queue oldest first, the ones without a time before all others.
 */
function summaryOf(letters: readonly DeadLetter[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { queue, name, reason, error, first_seen: at } of letters) {
    const key = JSON.stringify([queue, name, reason, error === null ? null : kindOf(error)]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { queue, name, reason, error, dead: 1, oldest: at, newest: at });
    else {
      group.dead += 1;
      group.oldest ??= at;
      group.newest = at ?? group.newest;
    }
  }
  return [...groups.values()].sort((a, b) => b.dead - a.dead);
}

/** @returns the error without what makes each one different. */
const kindOf = (error: string): string => error.replaceAll(/[0-9a-f]{8,}|[0-9a-f-]{36}|\d+/gi, '#');
