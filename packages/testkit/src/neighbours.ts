import { randomUUID } from 'node:crypto';
import type { MessageDefinition } from '@quittance/contracts/messages.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { startConsumers } from '@quittance/messaging/consumer/consumer.ts';
import type { Handler } from '@quittance/messaging/consumer/handler.ts';
import { messagingMigrations } from '@quittance/messaging/schema/service-schema.ts';
import { createOutbox } from '@quittance/messaging/outbox/outbox.ts';
import { createPool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testDatabase } from './database.ts';
import { testLogger, testMetrics } from './logger.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { sharedTrust } from './trust.ts';

export type Neighbours = {
  /** Publishes a message like the service that owns it. */
  publish<T extends object>(message: MessageDefinition<T>, payload: T, messageId?: string): Promise<void>;
  /** Publishes all of them at the same time. */
  publishAll<T extends object>(message: MessageDefinition<T>, payloads: readonly T[]): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Replaces the other services on the same broker. Outbox and inbox are in a separate database, so that its relay never
 * sends messages of the service under test.
 * @param consumes the handlers of each neighbour.
 * @param signer of the one that publishes, for services that check signatures.
 */
export async function startNeighbours({
  amqpUrl,
  consumes,
  signer = null,
}: {
  amqpUrl: string;
  consumes: Partial<Record<ServiceName, Handler[]>>;
  signer?: Trust['signer'];
}): Promise<Neighbours> {
  const common = { logger: testLogger, metrics: testMetrics };
  const schema = 'neighbours';
  const database = await testDatabase({ schema, migrations: [messagingMigrations] });
  const pools = { ...common, url: database.url, schema, applicationName: schema };
  const pool = createPool({ ...pools, max: 4 });
  const publishing = createPool({ ...pools, max: 4 });
  // A service refuses callers that waited too long for a connection. A test waits, however much it publishes at once.
  publishing.options.connectionTimeoutMillis = 0;
  const broker = connectBroker({ ...common, url: amqpUrl, name: schema });
  const outbox = createOutbox({ ...common, pool, broker, signer });
  const consumers = Object.entries(consumes).map(([service, handlers]) =>
    startConsumers({ ...common, broker, pool, service: service as ServiceName, handlers, trust: sharedTrust() }),
  );
  return {
    publish: (message, payload, messageId = randomUUID()) =>
      transaction(publishing, (tx) => outbox.send(tx, message, payload, { messageId })),
    publishAll: (message, payloads) =>
      transaction(publishing, (tx) =>
        outbox.sendAll(
          tx,
          message,
          payloads.map((payload) => ({ payload })),
        ),
      ),
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.close()));
      await outbox.close();
      await broker.close();
      await Promise.all([pool.end(), publishing.end()]);
      await database.drop();
    },
  };
}
