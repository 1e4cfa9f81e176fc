import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { connectBroker } from '@quittance/messaging/broker.ts';
import type { Broker } from '@quittance/messaging/broker.ts';
import { findDeadLetter, listDeadLetters, redriveDeadLetters } from '@quittance/messaging/dead-letter.ts';
import type { DeadLetter } from '@quittance/messaging/dead-letter-message.ts';
import { bindings } from '@quittance/messaging/topology.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { needed } from '../api.ts';
import { count, reads } from '../command.ts';
import type { JsonOption, Ops } from '../command.ts';
import type { Config } from '../config.ts';
import { Failure } from '../failure.ts';
import { printResult } from '../output.ts';

const queues = bindings.map(({ queue }) => queue);
const queueArgument = () => new Argument('<queue>', 'the queue it was taken from').choices(queues);

/** Messages that a service gave up. Read from RabbitMQ itself, since no service owns them. */
export function deadLetterCommands(program: Command, { config }: Ops): void {
  const deadLetter = program.command('dead-letter').description('messages that a service gave up');
  reads(deadLetter.command('list'))
    .description('dead letters, oldest first')
    .addOption(new Option('--queue <queue>', 'only those taken from this queue').choices(queues))
    .option('--limit <n>', 'at most this many', count, 100)
    .action(async (options: JsonOption & { queue?: string; limit: number }) => {
      const letters = await withBroker(config, (broker) => listDeadLetters(broker, options));
      // In a table the body would push everything else off the screen; `show` has it.
      const rows = options.json ? letters : letters.map(rowOf);
      printResult({ dead_letters: rows }, options);
    });
  reads(deadLetter.command('show'))
    .description('one dead letter with its body')
    .addArgument(queueArgument())
    .argument('<message>', 'message id')
    .action(async (queue: string, messageId: string, options: JsonOption) => {
      const letter = await withBroker(config, (broker) => findDeadLetter(broker, { queue, messageId }));
      if (letter === null) throw notThere(queue, messageId);
      printResult(letter, options);
    });
  reads(deadLetter.command('redrive'))
    .description('send dead letters back to their queue, as if for the first time')
    .addArgument(queueArgument())
    .argument('[message]', 'message id; all of the queue without it')
    .action(async (queue: string, messageId: string | undefined, options: JsonOption) => {
      const only = messageId === undefined ? {} : { messageId };
      const result = await withBroker(config, (broker) => redriveDeadLetters(broker, { queue, ...only }));
      if (messageId !== undefined && result.redriven === 0) throw notThere(queue, messageId);
      printResult(result, options);
    });
}

const rowOf = ({ message_id, queue, name, reason, first_seen, error }: DeadLetter) => ({
  message_id,
  queue,
  name,
  reason,
  first_seen,
  error,
});

const notThere = (queue: string, messageId: string): Failure =>
  new Failure('refused', `${queue} has no dead letter ${messageId}.`);

async function withBroker<T>(config: Config, use: (broker: Broker) => Promise<T>): Promise<T> {
  const broker = connectBroker({
    url: needed('AMQP_URL', config.amqpUrl),
    name: 'ops',
    logger: createLogger({ service: 'ops', level: 'silent' }),
    metrics: createMetrics({ service: 'ops', processMetrics: false }),
  });
  try {
    return await use(broker);
  } catch (error) {
    // The queue was checked before, so what is left to fail is the broker.
    throw new Failure('unreachable', error instanceof Error ? error.message : String(error), { cause: error });
  } finally {
    await broker.close();
  }
}
