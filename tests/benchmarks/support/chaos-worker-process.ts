import { TransferObserved } from '@quittance/contracts/messages.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { startConsumers } from '@quittance/messaging/consumer/consumer.ts';
import { onBatch } from '@quittance/messaging/consumer/handler.ts';
import { createOutbox } from '@quittance/messaging/outbox/outbox.ts';
import { createPool } from '@quittance/postgres/pool.ts';
import { sharedTrust, trustOf } from '@quittance/testkit/trust.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { jobOf } from './chaos-messages.ts';
import { serve } from './forked.ts';
import { openJobQueue, type QueueKind } from './job-queues.ts';
import type { WebhookMerchant } from './webhook-merchants.ts';
import { createPost } from './webhook-post.ts';

/** What a worker does, and where. */
export type WorkerOrder = OwnOrder | QueueOrder;
type OwnOrder = { kind: 'relay' | 'inbox'; databaseUrl: string; amqpUrl: string };
type QueueOrder = {
  kind: QueueKind;
  address: string;
  merchants: readonly WebhookMerchant[];
  receiver: { port: number; authorityFile: string };
};

/** Connections of a service. */
const POOL_SIZE = 10;

let ended: Promise<unknown> = new Promise(() => undefined);

const handlers = serve({
  /** Answers when it works. */
  async work(order: WorkerOrder) {
    if ('address' in order) ({ ended } = await jobQueue(order));
    else own[order.kind](order);
  },
  /** Answers when the worker has given up by itself. Its supervisor starts another one. */
  async untilEnded() {
    await ended;
  },
});
export type ChaosWorker = typeof handlers;

const connect = ({ databaseUrl: url, amqpUrl }: OwnOrder, schema: string) => {
  const common = { logger: testLogger, metrics: testMetrics };
  const pool = createPool({ ...common, url, schema, max: POOL_SIZE, applicationName: 'benchmark' });
  return { ...common, pool, broker: connectBroker({ ...common, url: amqpUrl, name: 'benchmark' }) };
};

const own: Record<OwnOrder['kind'], (order: OwnOrder) => void> = {
  relay(order) {
    createOutbox({ ...connect(order, 'chain'), signer: trustOf('chain-watcher').signer });
  },
  /** The effect of a message is a row, written in the transaction of its inbox row. No constraint hides a second one. */
  inbox(order) {
    const handler = onBatch(TransferObserved, 'transfer-observed', async (transfers, { tx }) => {
      await tx.query('insert into effect (id) select unnest($1::text[])', [transfers.map(jobOf)]);
    });
    startConsumers({ ...connect(order, 'payments'), service: 'payments', handlers: [handler], trust: sharedTrust() });
  },
};

async function jobQueue({ kind, address, merchants, receiver }: QueueOrder) {
  const post = createPost(receiver);
  const queue = await openJobQueue[kind](address, (error) => console.error(error));
  return queue.start(({ merchant, eventId, body }) => post(merchants[merchant]!, eventId, body), 'documented');
}
