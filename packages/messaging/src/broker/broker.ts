import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { type ReconnectingConnection, createReconnectingConnection } from './connection.ts';
import { type Outcome, type Outgoing, type Publisher, createPublisher } from './publisher.ts';
import { ensureTopology } from './declare.ts';

export type Broker = ReturnType<typeof connectBroker>;

/**
 * The process's connections to RabbitMQ. Returns immediately; connects, and reconnects for ever, in the background.
 *
 * Publishing and consuming use separate connections: when RabbitMQ runs short of memory or disk it stops reading from connections that
 * publish, and acknowledgements must not wait behind that.
 * @param options.url AMQP_URL, as in parseAmqpUrls(); never logged.
 * @param options.name of the service, shown in RabbitMQ's list of connections.
 */
export function connectBroker(options: { url: string; name: string; logger: Logger; metrics: Metrics }) {
  const { url, name, logger, metrics } = options;
  const connected = metrics.gauge('messaging_broker_connected', '1 while connected to RabbitMQ and not blocked', [
    'purpose',
  ]);
  /** The open connections, by purpose. */
  const up = { publish: new Set<string>(), consume: new Set<string>() };
  const all = { publish: new Set<string>(), consume: new Set<string>() };

  function createConnection(purpose: 'publish' | 'consume', detail: string = purpose): ReconnectingConnection {
    all[purpose].add(detail);
    return createReconnectingConnection({
      url,
      name: `${name} (${detail})`,
      logger,
      setUp: async (connection) => {
        // One for each queue that a process consumes, and fewer than those to publish on.
        if (purpose === 'consume') await ensureTopology(connection, logger);
      },
      onState: (state) => {
        if (state === 'connected') up[purpose].add(detail);
        else up[purpose].delete(detail);
        connected.set({ purpose }, up[purpose].size === all[purpose].size ? 1 : 0);
      },
    });
  }

  const publishing = createConnection('publish');
  const consuming = createConnection('consume');
  const publisher = createPublisher({ connection: publishing, logger, metrics });

  return {
    /** True while messages can be published and consumed. */
    ready: (): boolean => publisher.ready() && consuming.state() === 'connected',
    /**
     * Publishes a batch (at most a few hundred messages) and waits for every confirm, at most 15 s. For dead letters; everything else goes
     * through `outbox.send`. Never throws.
     * @returns the outcomes in the order of the batch.
     */
    publish: (batch: readonly Outgoing[]): Promise<Outcome[]> => publisher.publish(batch),
    /** False while `publish` would fail. */
    canPublish: (): boolean => publisher.ready(),
    /**
     * Opens a connection for the messages of one name, which `close` does not close. When a queue confirms nothing, RabbitMQ stops reading
     * from connections that publish to it, so messages of other names must not share the connection.
     * @param onReady is called whenever publishing has become possible.
     */
    openPublisher(messageName: string, onReady: () => void): Publisher {
      const connection = createConnection('publish', `publish ${messageName}`);
      const opened = createPublisher({ connection, onReady, logger, metrics });
      return {
        ...opened,
        async close() {
          await opened.close();
          await connection.close();
        },
      };
    },
    /** The connection for reading queues and dead letters. */
    consuming,
    /**
     * Opens a connection for the consumer of one queue, which `close` does not close. RabbitMQ closes the whole connection (541) when a
     * consumer subscribes to a queue whose leader is gone, and every message on it would return to its queue and count as delivered.
     */
    openConsuming: (queue: string): ReconnectingConnection => createConnection('consume', `consume ${queue}`),
    /** Queues that are not consumed here, because they could lose messages or cannot be declared. The consumers maintain it. */
    unusableQueues: new Set<string>(),
    /** Waits for the first attempt to connect to each host. @returns RabbitMQ's reason when it refused the login, else null. */
    loginRefusal: async (): Promise<string | null> => (await publishing.loginRefusal) ?? (await consuming.loginRefusal),
    async close(): Promise<void> {
      await publisher.close();
      await Promise.all([publishing.close(), consuming.close()]);
    },
  };
}
