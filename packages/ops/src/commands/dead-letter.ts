import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { Broker } from '@quittance/messaging/broker/broker.ts';
import {
  countDeadLetters,
  discardDeadLetters,
  findDeadLetter,
  listDeadLetterActions,
  listDeadLetters,
  redriveDeadLetters,
} from '@quittance/messaging/dead-letter/dead-letter.ts';
import { bindings } from '@quittance/messaging/broker/topology.ts';
import { asks, authorOf, changes, count, momentArgument, reads } from '../command.ts';
import type { AuthorOptions, JsonOption, Ops, YesOption } from '../command.ts';
import type { Config } from '../config.ts';
import { confirm } from '../confirm.ts';
import { summaryOf } from '../dead-letter-summary.ts';
import { Failure } from '../failure.ts';
import { note, printResult } from '../output.ts';
import { withBroker } from '../with-broker.ts';
import { deadLetterActionsView, deadLettersView, deadLetterView, doneView, summaryView } from '../views/dead-letter.ts';

/** The most that one command sends back or discards, and the most that is looked through for a summary. */
const DONE_MAX = 1000;
const LOOKED_AT_MAX = 10_000;

const queues = bindings.map(({ queue }) => queue);
const queueArgument = () => new Argument('<queue>', 'the queue it was taken from').choices(queues);
const queueOption = () => new Option('--queue <queue>', 'only those taken from this queue').choices(queues);

type ChoiceOptions = { cause?: string; name?: string; since?: string; until?: string };
type ListOptions = JsonOption & ChoiceOptions & { queue?: string; limit: number };
type DeedOptions = JsonOption & YesOption & AuthorOptions & ChoiceOptions & { limit: number };

/** Messages that a service gave up. Read from RabbitMQ itself, since no service owns them. */
export function deadLetterCommands(program: Command, { config }: Ops): void {
  const deadLetter = program.command('dead-letter').description('messages that a service gave up');
  reads(deadLetter.command('summary'))
    .description('how many, by queue, message, cause and error; where to begin when there are many')
    .addOption(queueOption())
    .action(async (options: JsonOption & { queue?: string }) => {
      const all = { ...options, limit: LOOKED_AT_MAX };
      const letters = await withBroker(config, (broker) => listDeadLetters(broker, all));
      printResult({ groups: summaryOf(letters) }, options, summaryView);
      if (letters.length === LOOKED_AT_MAX) note(`Of the first ${LOOKED_AT_MAX}; there may be more.`, options);
    });
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
      const letter = await withBroker(config, (broker) => findDeadLetter(broker, { queue, messageId }));
      if (letter === null) throw notThere(queue, messageId);
      printResult(letter, options, deadLetterView);
    });
  redrive(chooses(asks(changes(deadLetter.command('redrive')))), config);
  discard(chooses(asks(reads(deadLetter.command('discard')))), config);
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
    .option('--cause <reason>', 'only those given up for this reason, as the list shows it')
    .option('--name <message>', 'only messages of this name, such as PaymentPaid')
    .option('--since <time>', 'only those dead since then, or later', momentArgument)
    .option('--until <time>', 'only those dead before', momentArgument);

async function list(config: Config, options: ListOptions): Promise<void> {
  const found = await withBroker(config, async (broker) => {
    const total = await countIn(broker, options.queue);
    return { dead_letters: await listDeadLetters(broker, options), total };
  });
  printResult(found, options, deadLettersView);
  const shown = found.dead_letters.length;
  if (shown === options.limit && shown < found.total) note(`${shown} of ${found.total}; --limit shows more.`, options);
}

/** Sending one back is safe: its handler takes a message once, however often it comes. Many may be too much for a service. */
function redrive(command: Command, config: Config): void {
  command
    .description('send dead letters back to their queue, as if for the first time')
    .addArgument(queueArgument())
    .argument('[message]', 'message id; without it all that the options choose, the oldest first')
    .option('--limit <n>', `at most this many, ${DONE_MAX} at the most`, atMostDone, DONE_MAX)
    .action(async (queue: string, messageId: string | undefined, options: DeedOptions) => {
      const deed = { ...deedOf(queue, messageId, options), author: authorOf(options, config) };
      const result = await withBroker(config, async (broker) => {
        const dead = await countIn(broker, queue);
        if (messageId === undefined) await confirmMany(broker, deed, options, (these) => `Send ${these} back to`);
        const { redriven } = await redriveDeadLetters(broker, deed);
        return { redriven, left: Math.max(0, dead - redriven) };
      });
      if (messageId !== undefined && result.redriven === 0) throw notThere(queue, messageId);
      printResult(result, options, ({ redriven, left }) => doneView('sent back', redriven, left));
    });
}

/** What a discarded message would have done never happens, so it is asked for, even for one, and nobody leaves the reason out. */
function discard(command: Command, config: Config): void {
  command
    .description('take dead letters out for good: what they tell of never takes effect')
    .addArgument(queueArgument())
    .argument('[message]', 'message id; without it all that the options choose, the oldest first')
    .option('--actor <name>', 'who does this, for the audit (default: who runs this)')
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--limit <n>', `at most this many, ${DONE_MAX} at the most`, atMostDone, DONE_MAX)
    .action(async (queue: string, messageId: string | undefined, options: DeedOptions) => {
      const deed = { ...deedOf(queue, messageId, options), author: authorOf(options, config) };
      const result = await withBroker(config, async (broker) => {
        const dead = await countIn(broker, queue);
        await confirmMany(broker, deed, options, (these) => `Discard for good ${these} of`);
        const { discarded } = await discardDeadLetters(broker, deed);
        return { discarded, left: Math.max(0, dead - discarded) };
      });
      if (messageId !== undefined && result.discarded === 0) throw notThere(queue, messageId);
      printResult(result, options, ({ discarded, left }) => doneView('discarded', discarded, left));
    });
}

function deedOf(queue: string, messageId: string | undefined, { cause, name, since, until, limit }: DeedOptions) {
  return { queue, messageId, cause, name, since, until, limit };
}

/** Says how many it would be before it asks. Nothing is asked when there are none. */
async function confirmMany(
  broker: Broker,
  deed: ReturnType<typeof deedOf>,
  options: DeedOptions,
  question: (these: string) => string,
): Promise<void> {
  if (options.yes === true || options.json === true) return;
  const chosen = (await listDeadLetters(broker, { ...deed, limit: LOOKED_AT_MAX })).length;
  if (chosen === 0) return;
  const some = chosen > deed.limit ? `the oldest ${deed.limit} of ${chosen}` : `all ${chosen}`;
  const these = chosen === 1 ? 'the one dead letter' : `${some} dead letters`;
  await confirm(`${question(these)} ${deed.queue}?`, options);
}

const atMostDone = (text: string): number => Math.min(count(text), DONE_MAX);

/**
 * Before anything is looked at: what was looked at is back in its queue a moment after RabbitMQ was told to put it there.
 * @param queue all queues when absent.
 */
async function countIn(broker: Broker, queue: string | undefined): Promise<number> {
  const counts = (await countDeadLetters(broker)).filter((row) => queue === undefined || row.queue === queue);
  return counts.reduce((sum, { dead }) => sum + dead, 0);
}

const notThere = (queue: string, messageId: string): Failure =>
  new Failure('refused', `${queue} has no dead letter ${messageId}.`);
