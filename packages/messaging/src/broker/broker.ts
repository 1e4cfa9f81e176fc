import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { type ReconnectingConnection, createReconnectingConnection } from './connection.ts';
import { type Outcome, type Outgoing, createPublisher } from './publisher.ts';
import { declareTopology } from './topology.ts';

export type Broker = ReturnType<typeof connectBroker>;

/**
 * The process's connections to RabbitMQ. Returns at once; connects, and reconnects for ever, in the background.
 *
 * Two connections: when RabbitMQ runs short of memory or disk it stops reading from connections that publish,
 * and acknowledgements must not wait behind that.
 * @param options.url amqp:// or amqps:// with the virtual host; never logged.
 * @param options.name of the service, shown in RabbitMQ's list of connections.
 */
export function connectBroker(options: { url: string; name: string; logger: Logger; metrics: Metrics }) {
  const { url, name, logger, metrics } = options;
  const connected = metrics.gauge('messaging_broker_connected', '1 while connected to RabbitMQ and not blocked', [
    'purpose',
  ]);
  const hooks: (() => void)[] = [];
  const callHooks = (): void => hooks.forEach((hook) => hook());

  function createConnection(purpose: 'publish' | 'consume'): ReconnectingConnection {
    return createReconnectingConnection({
      url,
      name: `${name} (${purpose})`,
      logger,
      setUp: async (connection) => {
        const channel = await connection.createChannel();
        // Without a listener a refused declaration would end the process; the declaration itself fails with the reason.
        channel.on('error', () => undefined);
        await declareTopology(channel);
        await channel.close();
      },
      onState: (state) => {
        connected.set({ purpose }, state === 'connected' ? 1 : 0);
        if (purpose === 'publish' && state === 'connected') callHooks();
      },
    });
  }

  const publishing = createConnection('publish');
  const consuming = createConnection('consume');
  const publisher = createPublisher({ connection: publishing, onReady: callHooks, logger, metrics });

  return {
    /** True while messages can be published and consumed. */
    ready: (): boolean => publisher.ready() && consuming.state() === 'connected',
    /**
     * Publishes a batch (at most a few hundred messages) and waits for every confirm, at most 15 s. For outbox and dead letters;
     * everything else goes through `outbox.send`. Never throws.
     * @returns the outcomes in the order of the batch.
     */
    publish: (batch: readonly Outgoing[]): Promise<Outcome[]> => publisher.publish(batch),
    /** False while `publish` would fail. */
    canPublish: (): boolean => publisher.ready(),
    /** Calls the hook whenever publishing has become possible again. */
    onCanPublish: (hook: () => void): void => void hooks.push(hook),
    /** The connection on which messages are consumed. */
    consuming,
    /** Waits for the first attempt to connect. @returns RabbitMQ's reason when it refused the login, else null. */
    loginRefusal: async (): Promise<string | null> => (await publishing.loginRefusal) ?? (await consuming.loginRefusal),
    async close(): Promise<void> {
      await publisher.close();
      await Promise.all([publishing.close(), consuming.close()]);
    },
  };
}
