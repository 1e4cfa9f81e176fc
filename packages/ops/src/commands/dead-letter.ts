import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { Broker } from '@quittance/messaging/broker.ts';
import {
  countDeadLetters,
  findDeadLetter,
  listDeadLetters,
  redriveDeadLetters,
} from '@quittance/messaging/dead-letter.ts';
import { bindings } from '@quittance/messaging/topology.ts';
import { asks, count, reads } from '../command.ts';
import type { JsonOption, Ops, YesOption } from '../command.ts';
import type { Config } from '../config.ts';
import { confirm } from '../confirm.ts';
import { Failure } from '../failure.ts';
import { note, printResult } from '../output.ts';
import { withBroker } from '../with-broker.ts';
import { deadLettersView, deadLetterView, redrivenView } from '../views/dead-letter.ts';

/** The most that one command sends back. */
const REDRIVE_MAX = 1000;

const queues = bindings.map(({ queue }) => queue);
const queueArgument = () => new Argument('<queue>', 'the queue it was taken from').choices(queues);

type ListOptions = JsonOption & { queue?: string; limit: number };

/** Messages that a service gave up. Read from RabbitMQ itself, since no service owns them. */
export function deadLetterCommands(program: Command, { config }: Ops): void {
  const deadLetter = program.command('dead-letter').description('messages that a service gave up');
  reads(deadLetter.command('list'))
    .description('dead letters, oldest first')
    .addOption(new Option('--queue <queue>', 'only those taken from this queue').choices(queues))
    .option('--limit <n>', 'at most this many', count, 100)
    .action(async (options: ListOptions) => {
      const found = await withBroker(config, async (broker) => ({
        dead_letters: await listDeadLetters(broker, options),
        total: await countIn(broker, options.queue),
      }));
      printResult(found, options, deadLettersView);
      const shown = found.dead_letters.length;
      if (shown < found.total) note(`${shown} of ${found.total}; --limit shows more.`, options);
    });
  reads(deadLetter.command('show'))
    .description('one dead letter with its body')
    .addArgument(queueArgument())
    .argument('<message>', 'message id')
    .action(async (queue: string, messageId: string, options: JsonOption) => {
      const letter = await withBroker(config, (broker) => findDeadLetter(broker, { queue, messageId }));
      if (letter === null) throw notThere(queue, messageId);
      printResult(letter, options, deadLetterView);
    });
  redrive(asks(reads(deadLetter.command('redrive'))), config);
}

/** Sending one back is safe: its handler takes a message once, however often it comes. A whole queue may be too much for a service. */
function redrive(command: Command, config: Config): void {
  command
    .description('send dead letters back to their queue, as if for the first time')
    .addArgument(queueArgument())
    .argument('[message]', 'message id; the oldest thousand of the queue without it')
    .action(async (queue: string, messageId: string | undefined, options: JsonOption & YesOption) => {
      const result = await withBroker(config, async (broker) => {
        const dead = await countIn(broker, queue);
        if (messageId === undefined && dead > 0) {
          const these = dead > REDRIVE_MAX ? `the oldest ${REDRIVE_MAX} of ${dead}` : `all ${dead}`;
          const letters = dead === 1 ? 'the one dead letter' : `${these} dead letters`;
          await confirm(`Send ${letters} back to ${queue}?`, options);
        }
        const one = messageId === undefined ? {} : { messageId };
        const { redriven } = await redriveDeadLetters(broker, { queue, limit: REDRIVE_MAX, ...one });
        return { redriven, left: Math.max(0, dead - redriven) };
      });
      if (messageId !== undefined && result.redriven === 0) throw notThere(queue, messageId);
      printResult(result, options, redrivenView);
    });
}

/** @param queue all queues when absent. */
async function countIn(broker: Broker, queue: string | undefined): Promise<number> {
  const counts = (await countDeadLetters(broker)).filter((row) => queue === undefined || row.queue === queue);
  return counts.reduce((sum, { dead }) => sum + dead, 0);
}

const notThere = (queue: string, messageId: string): Failure =>
  new Failure('refused', `${queue} has no dead letter ${messageId}.`);
