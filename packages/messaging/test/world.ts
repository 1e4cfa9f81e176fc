import { randomUUID } from 'node:crypto';
import { afterAll } from '@jest/globals';
import { type ConfirmChannel, connect } from 'amqplib';
import { newId } from '@quittance/contracts/ids.ts';
import { WebhookConfigured } from '@quittance/contracts/messages.ts';
import { type Pool, createPool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Metrics, createMetrics } from '@quittance/runtime/metrics.ts';
import type { Signer, Trust } from '@quittance/runtime/trust.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type FaultProxy, faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { type Broker, connectBroker } from '../src/broker/broker.ts';
import { ACTIONS_QUEUE, bindings, deadQueueOf } from '../src/broker/topology.ts';
import { type Consumers, startConsumers } from '../src/consumer/consumer.ts';
import { type BatchContext, type Handler, type HandlerContext, on, onBatch } from '../src/consumer/handler.ts';
import type { LegacyRecord } from '../src/legacy-use.ts';
import { messagingMigrations } from '../src/schema/service-schema.ts';
import { type Outbox, createOutbox } from '../src/outbox/outbox.ts';

/** The queue and the message that these tests use: `payments` subscribes to WebhookConfigured. */
export const QUEUE = 'payments.webhook-configured';

/** A service with its own database and virtual host, each behind a proxy so that it can be cut off. */
export type World = {
  pool: Pool;
  /** The same database through `databaseProxy`. */
  proxiedPool: Pool;
  databaseProxy: FaultProxy;
  brokerProxy: FaultProxy;
  broker: Broker;
  brokerUrl: string;
  metrics: Metrics;
  channel: ConfirmChannel;
  /** Makes a queue refuse every message while it holds one, or accept them again. */
  refuse(queue: string, isRefusing: boolean): Promise<void>;
  /** Starts a relay; closed with the world. */
  outbox(options?: { broker?: Broker; signer?: Signer }): Outbox;
  consume(
    handlers: Handler[],
    options?: {
      broker?: Broker;
      logger?: Logger;
      pool?: Pool;
      trust?: Trust;
      legacy?: Pick<LegacyRecord, 'accepted'>;
      prefetch?: number;
      maxWaitMs?: number;
    },
  ): Consumers;
  connect(url: string): Broker;
  close(): Promise<void>;
};

/** Short pauses, so that a handler that fails 20 times does so within a test. */
const retryPolicy = {
  failed: { firstMs: 1, maxMs: 5 },
  unavailable: { firstMs: 5, maxMs: 25 },
  busy: { firstMs: 1, maxMs: 5 },
};

let backends: ReturnType<typeof startBackends> | null = null;
afterAll(async () => {
  const { database, rabbit } = (await backends) ?? {};
  await Promise.all([database?.drop(), rabbit?.close()]);
});

/** One database and one virtual host for all tests of a file. */
async function startBackends() {
  const [database, rabbit] = await Promise.all([
    testDatabase({ schema: 'payments', migrations: [messagingMigrations] }),
    testBroker(),
  ]);
  return { database, rabbit };
}

export async function startWorld(): Promise<World> {
  const { database, rabbit } = await (backends ??= startBackends());
  const brokerProxy = await faultProxy({ target: rabbit.url });
  const databaseProxy = await faultProxy({ target: database.url });
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const common = { logger: testLogger, metrics };
  const poolOptions = { schema: 'payments', max: 10, logger: testLogger, applicationName: 'messaging-test' };
  const pool = createPool({ ...poolOptions, url: database.url });
  // A service refuses requests that wait too long for a connection. Here every attempt is counted, and none may fail because the machine is
  // busy.
  pool.options.connectionTimeoutMillis = 0;
  const proxiedPool = createPool({ ...poolOptions, url: databaseProxy.url });
  await pool.query('create table if not exists effects (message_id uuid not null, merchant_id text not null)');

  const closers: (() => Promise<unknown>)[] = [];
  const closing = <T extends { close(): Promise<unknown> }>(resource: T): T => {
    closers.push(() => resource.close());
    return resource;
  };
  const connectTo = (url: string): Broker => closing(connectBroker({ ...common, url, name: 'test' }));
  const broker = connectTo(brokerProxy.url);
  await connected(broker);
  const connection = closing(await connect(rabbit.url));
  const channel = await connection.createConfirmChannel();

  return {
    pool,
    proxiedPool,
    databaseProxy,
    brokerProxy,
    broker,
    brokerUrl: rabbit.url,
    metrics,
    channel,
    async refuse(queue, isRefusing) {
      const policy = `/api/policies/${rabbit.vhost}/${queue}`;
      if (!isRefusing) await rabbit.manage('DELETE', policy);
      else {
        const definition = { 'max-length': 1 };
        await rabbit.manage('PUT', policy, { pattern: `^${queue}$`, 'apply-to': 'queues', definition });
      }
    },
    outbox: (options = {}) => closing(createOutbox({ ...common, pool, broker, signer: null, ...options, pollMs: 50 })),
    consume: (handlers, { maxWaitMs, ...options } = {}) =>
      closing(
        startConsumers({
          ...{ ...common, pool, broker, service: 'payments', handlers, trust: sharedTrust(), ...options },
          retryPolicy: { ...retryPolicy, ...(maxWaitMs !== undefined && { maxWaitMs }) },
        }),
      ),
    connect: connectTo,
    async close() {
      brokerProxy.restore();
      databaseProxy.restore();
      for (const close of closers.reverse()) await close();
      await pool.query('truncate outbox, inbox, sent_message, effects');
      await Promise.all([pool.end(), proxiedPool.end(), brokerProxy.close(), databaseProxy.close()]);
      await emptyQueues(rabbit.url);
    },
  };
}

/** Unacknowledged messages have returned to their queue, because the connections of the test are closed. */
async function emptyQueues(url: string): Promise<void> {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  await channel.deleteQueue(ACTIONS_QUEUE);
  for (const queue of bindings.flatMap((row) => [row.queue, deadQueueOf(row.queue)])) await channel.purgeQueue(queue);
  await connection.close();
}

export async function connected(broker: Broker): Promise<void> {
  await eventually(() => {
    if (!broker.ready()) throw new Error('not connected');
  });
}

/** A handler whose effect is a row; `before` may throw or wait. */
export function recording(before: (context: HandlerContext) => Promise<void> | void = () => undefined): Handler {
  return on(WebhookConfigured, 'webhook-configured', async ({ merchant_id }, context) => {
    await before(context);
    await context.tx.query('insert into effects (message_id, merchant_id) values ($1, $2)', [
      context.messageId,
      merchant_id,
    ]);
  });
}

/** A batch handler whose effect is one row per message; `before` may throw or wait. */
export function recordingBatches(
  before: (merchantIds: string[], context: BatchContext) => Promise<void> | void = () => undefined,
): Handler {
  return onBatch(WebhookConfigured, 'webhook-configured', async (messages, context) => {
    const merchantIds = messages.map(({ merchant_id }) => merchant_id);
    await before(merchantIds, context);
    await context.tx.query(
      'insert into effects (message_id, merchant_id) select gen_random_uuid(), unnest($1::text[])',
      [merchantIds],
    );
  });
}

/** Counts the messages that have reached a handler: those RabbitMQ has delivered may still be on their way. */
export function countingArrivals(handler: Handler): { handler: Handler; haveCome: (count: number) => Promise<void> } {
  let parsed = 0;
  const parse = (value: unknown): unknown => {
    parsed += 1;
    return handler.message.parse(value);
  };
  return {
    handler: { ...handler, message: { ...handler.message, parse } },
    haveCome: (count) =>
      eventually(() => {
        if (parsed !== count) throw new Error(`${parsed} of ${count} messages have come`);
      }),
  };
}

/** Lets the transaction of a handler wait longer than a session may normally be idle in one. */
export const mayBeIdle = ({ tx }: Pick<HandlerContext, 'tx'>) =>
  tx.query('set local idle_in_transaction_session_timeout = 0');

export function webhookConfigured(): WebhookConfigured {
  return { merchant_id: newId('mer'), configured_at: new Date().toISOString() };
}

export const validBody = (): string => JSON.stringify(webhookConfigured());

/** Sends one message in its own transaction. @returns its id. */
export async function sendMessage({ pool }: World, outbox: Outbox, messageId: string = randomUUID()): Promise<string> {
  await transaction(pool, (tx) => outbox.send(tx, WebhookConfigured, webhookConfigured(), { messageId }));
  return messageId;
}

/** Publishes bytes to the exchange like any other sender. */
export async function publishRaw(
  { channel }: World,
  body: string,
  {
    messageId = randomUUID(),
    version = 1,
    requestId = 'request-1',
    headers = {},
  }: { messageId?: string; version?: number; requestId?: string; headers?: object } = {},
): Promise<string> {
  channel.publish('quittance', 'WebhookConfigured', Buffer.from(body), {
    messageId,
    type: 'WebhookConfigured',
    correlationId: requestId,
    headers: { version, ...headers },
    persistent: true,
  });
  await channel.waitForConfirms();
  return messageId;
}

/** Ids of the messages that took effect, once per effect. */
export async function effects({ pool }: World): Promise<string[]> {
  const { rows } = await pool.query<{ message_id: string }>('select message_id from effects');
  return rows.map((row) => row.message_id);
}

/** Merchants of the messages that took effect, once per effect. */
export async function affectedMerchants({ pool }: World): Promise<string[]> {
  const { rows } = await pool.query<{ merchant_id: string }>('select merchant_id from effects');
  return rows.map((row) => row.merchant_id);
}

export async function outboxSize({ pool }: World): Promise<number> {
  const { rows } = await pool.query<{ waiting: number }>('select count(*)::int as waiting from outbox');
  return rows[0]!.waiting;
}

/** Messages ready in a queue. */
export async function queueSize({ channel }: World, queue: string): Promise<number> {
  return (await channel.checkQueue(queue)).messageCount;
}

/** Deliveries by result, e.g. { done: 1, failed: 3 }, without results that none had. */
export async function results({ metrics }: World): Promise<Record<string, number>> {
  const metric = await metrics.registry.getSingleMetric('messaging_consumed_total')?.get();
  const seen = (metric?.values ?? []).filter(({ value }) => value > 0);
  return Object.fromEntries(seen.map(({ labels, value }) => [String(labels.result), value]));
}

/** How many attempts a handler had. */
export async function attempts({ metrics }: World): Promise<number> {
  const metric = await metrics.registry.getSingleMetric('messaging_handler_duration_seconds')?.get();
  const values = (metric?.values ?? []) as { metricName?: string; value: number }[];
  return values.find(({ metricName }) => metricName?.endsWith('_count'))?.value ?? 0;
}
