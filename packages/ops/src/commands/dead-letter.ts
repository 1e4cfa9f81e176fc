import { Argument, Option, type Command } from 'commander';
import type { Broker } from '@quittance/messaging/broker/broker.ts';
import {
  discardDeadLetters,
  listDeadLetterActions,
  listDeadLetters,
  readQueues,
  redriveDeadLetters,
} from '@quittance/messaging/dead-letter/dead-letter.ts';
import { bindings } from '@quittance/messaging/broker/topology.ts';
import { asks, authorOf, changes, count, momentArgument, reads } from '../command.ts';
import type { ChangeOptions, JsonOption, Ops } from '../command.ts';
import type { Config } from '../config.ts';
import { confirm } from '../confirm.ts';
import { Failure } from '../failure.ts';
import { note, printResult } from '../output.ts';
import { withBroker } from '../with-broker.ts';
import {
  deadLetterActionsView,
  deadLettersView,
  deadLetterView,
  doneView,
  summaryOf,
  summaryView,
} from '../views/dead-letter.ts';

/** The most that one command sends back or discards, and the most that is looked through for a summary. */
const DONE_MAX = 1000;
const LOOKED_AT_MAX = 10_000;

const queues = bindings.map(({ queue }) => queue);
const queueArgument = () => new Argument('<queue>', 'the queue it was taken from').choices(queues);
const queueOption = () => new Option('--queue <queue>', 'only those taken from this queue').choices(queues);

type ChoiceOptions = { cause?: string; name?: string; since?: string; until?: string };
type ListOptions = JsonOption & ChoiceOptions & { queue?: string; limit: number };
type SummaryOptions = JsonOption & { queue?: string };
type DeedOptions = ChangeOptions & ChoiceOptions & { limit: number };

/** Messages that a service could not process. Read from RabbitMQ itself, since no service owns them. */
export function deadLetterCommands(program: Command, { config }: Ops): void {
  const deadLetter = program.command('dead-letter').description('messages that a service could not process');
  reads(deadLetter.command('summary'))
    .description('how many, by queue, message, cause and error; where to begin when there are many')
    .addOption(queueOption())
    .action((options: SummaryOptions) => summarize(config, options));
  chooses(reads(deadLetter.command('list')))
    .description('dead letters, oldest first')
    .addOption(queueOption())
    .option('--limit <n>', 'at most this many', count, 100)
    .action((options: ListOptions) => list(config, options));
  reads(deadLetter.command('show'))
    .description('one dead letter with its body')
    .addArgument(queueArgument())
    .argument('<message>', 'message id')
    .action(async (queue: string, messageId: string, options: JsonOption) => {
      const [letter] = await withBroker(config, (broker) => listDeadLetters(broker, { queue, messageId }));
      if (letter === undefined) throw notThere(queue, messageId);
      printResult(letter, options, deadLetterView);
    });
  // Sending one back is safe: its handler processes a message once, however often it is delivered. Many may be too much for a service.
  deedCommand(
    chooses(asks(changes(deadLetter.command('redrive')))).description(
      'send dead letters back to their queue, as if for the first time',
    ),
    config,
    { run: redriveDeadLetters, field: 'redriven', title: 'sent back', question: 'Send … back to', asksForOne: false },
  );
  // What a discarded message would have done never happens, so even one is asked about, and a reason is required.
  deedCommand(
    chooses(asks(reads(deadLetter.command('discard'))))
      .description('take dead letters out for good: what they tell of never takes effect')
      .option('--actor <name>', 'who does this, for the audit (default: who runs this)')
      .requiredOption('--reason <text>', 'why, for the audit'),
    config,
    {
      run: discardDeadLetters,
      field: 'discarded',
      title: 'discarded',
      question: 'Discard for good … of',
      asksForOne: true,
    },
  );
  reads(deadLetter.command('audit'))
    .description('who sent back or discarded which dead letters, and why, newest first')
    .addOption(queueOption())
    .option('--limit <n>', 'at most this many', count, 100)
    .action(async (options: JsonOption & { queue?: string; limit: number }) => {
      const actions = await withBroker(config, (broker) => listDeadLetterActions(broker, options));
      printResult({ actions }, options, deadLetterActionsView);
    });
}

const chooses = (command: Command): Command =>
  command
    .option('--cause <reason>', 'only those with this reason, as the list shows it')
    .option('--name <message>', 'only messages of this name, such as PaymentPaid')
    .option('--since <time>', 'only those dead since then, or later', momentArgument)
    .option('--until <time>', 'only those dead before', momentArgument);

async function summarize(config: Config, options: SummaryOptions): Promise<void> {
  const { letters, idle } = await withBroker(config, async (broker) => ({
    letters: await listDeadLetters(broker, { ...options, limit: LOOKED_AT_MAX }),
    idle: (await readQueues(broker, options.queue)).filter(({ consumers }) => consumers === 0),
  }));
  const queues = idle.map(({ queue }) => queue);
  printResult({ groups: summaryOf(letters), queues_without_consumer: queues }, options, summaryView);
  for (const queue of queues) note(`No process consumes ${queue}: its messages wait.`, options);
  if (letters.length === LOOKED_AT_MAX) note(`Of the first ${LOOKED_AT_MAX}; there may be more.`, options);
}

async function list(config: Config, options: ListOptions): Promise<void> {
  const found = await withBroker(config, async (broker) => {
    const total = await countIn(broker, options.queue);
    return { dead_letters: await listDeadLetters(broker, options), total };
  });
  printResult(found, options, deadLettersView);
  const shown = found.dead_letters.length;
  if (shown === options.limit && shown < found.total) note(`${shown} of ${found.total}; --limit shows more.`, options);
}

type Deed = {
  run: typeof redriveDeadLetters;
  /** Its count in the JSON, and in the text. */
  field: 'redriven' | 'discarded';
  title: string;
  question: string;
  asksForOne: boolean;
};

/** What is done to one dead letter of a queue, or to those that the options choose. */
function deedCommand(command: Command, config: Config, { run, field, title, question, asksForOne }: Deed): void {
  command
    .addArgument(queueArgument())
    .argument('[message]', 'message id; without it all that the options choose, the oldest first')
    .option('--limit <n>', `at most this many, ${DONE_MAX} at the most`, atMostDone, DONE_MAX)
    .action(async (queue: string, messageId: string | undefined, options: DeedOptions) => {
      const { cause, name, since, until, limit } = options;
      const author = authorOf(options, config);
      const chosen = { queue, messageId, cause, name, since, until, limit };
      const { done, left } = await withBroker(config, async (broker) => {
        const dead = await countIn(broker, queue);
        if (messageId === undefined || asksForOne) await confirmMany(broker, chosen, options, question);
        const count = await run(broker, { ...chosen, author });
        return { done: count, left: Math.max(0, dead - count) };
      });
      if (messageId !== undefined && done === 0) throw notThere(queue, messageId);
      printResult({ [field]: done, left }, options, () => doneView(title, done, left));
    });
}

type Chosen = { queue: string; messageId: string | undefined; limit: number };

/** Says how many it would be before it asks. Nothing is asked when there are none. */
async function confirmMany(broker: Broker, deed: Chosen, options: DeedOptions, question: string): Promise<void> {
  if (options.yes === true || options.json === true) return;
  const chosen = (await listDeadLetters(broker, { ...deed, limit: LOOKED_AT_MAX })).length;
  if (chosen === 0) return;
  const some = chosen > deed.limit ? `the oldest ${deed.limit} of ${chosen}` : `all ${chosen}`;
  const these = chosen === 1 ? 'the one dead letter' : `${some} dead letters`;
  await confirm(`${question.replace('…', these)} ${deed.queue}?`, options);
}

const atMostDone = (text: string): number => Math.min(count(text), DONE_MAX);

/**
 * Before any letter is read: RabbitMQ returns letters that were read to their queue with a short delay.
 * @param queue all queues when absent.
 */
async function countIn(broker: Broker, queue: string | undefined): Promise<number> {
  return (await readQueues(broker, queue)).reduce((sum, { dead }) => sum + dead, 0);
}

const notThere = (queue: string, messageId: string): Failure =>
  new Failure('refused', `${queue} has no dead letter ${messageId}.`);
