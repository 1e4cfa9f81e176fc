import { connectBroker, type Broker } from '@quittance/messaging/broker/broker.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { needed } from './api.ts';
import type { Config } from './config.ts';
import { Failure } from './failure.ts';

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
    throw new Failure('unreachable', `${why} (${new URL(url).host})`, { cause: error });
  } finally {
    await broker.close();
  }
}
