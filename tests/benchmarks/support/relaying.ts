import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { connectBroker, type Broker } from '@quittance/messaging/broker/broker.ts';
import { EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { composeMessage, createOutbox } from '@quittance/messaging/outbox/outbox.ts';
import { insertMessages } from '@quittance/messaging/outbox/store.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { trustOf } from '@quittance/testkit/trust.ts';

/** Sends this many messages one way. @returns seconds until all are confirmed. */
type Send = (messages: number) => Promise<number>;

export type Relaying = { raw: Send; asWritten: Send; backlog: Send; close(): Promise<void> };

const QUEUE = 'payments.transfer-observed';
const IN_A_TRANSACTION = 100;
const WRITERS = 8;
const UNCONFIRMED = 2_000;
const LOOK_EVERY_MS = 5;

/** The relay of a service, and a plain loop, both in this process. */
export async function startRelaying(options: {
  databaseUrl: string;
  amqpUrl: string;
  onEnd: (close: () => Promise<void>) => void;
}): Promise<Relaying> {
  const common = { logger: testLogger, metrics: testMetrics };
  const pool = createPool({
    ...{ url: options.databaseUrl, schema: 'chain', max: 10, applicationName: 'benchmark', logger: testLogger },
  });
  options.onEnd(() => pool.end());
  const broker = connectBroker({ ...common, url: options.amqpUrl, name: 'benchmark' });
  options.onEnd(() => broker.close());
  await eventually(() => {
    if (!broker.ready()) throw new Error('RabbitMQ is not there');
  });
  const channel = await openChannel(broker);
  const outbox = createOutbox({ ...common, pool, broker, signer: trustOf('chain-watcher').signer });
  const send = async (messages: number, run: () => Promise<void>): Promise<number> => {
    const seconds = await timed(run);
    const { messageCount } = await channel.checkQueue(QUEUE);
    if (messageCount !== messages) throw new Error(`${messageCount} messages of ${messages} arrived`);
    await empty(pool, channel);
    return seconds;
  };

  return {
    raw: (messages) => send(messages, () => publishRaw(channel, messages)),
    asWritten: (messages) =>
      send(messages, async () => {
        await inTransactions(messages, (count) =>
          transaction(pool, (tx) => outbox.sendAll(tx, TransferObserved, payloads(count))),
        );
        await untilSent(pool, messages);
      }),
    async backlog(messages) {
      await transaction(pool, (tx) => insertMessages(tx, rowsOf(messages - 1)));
      return send(messages, async () => {
        // The last one wakes the relay.
        await transaction(pool, (tx) => outbox.sendAll(tx, TransferObserved, payloads(1)));
        await untilSent(pool, messages);
      });
    },
    close: () => outbox.close(),
  };
}

type ConfirmChannel = Awaited<ReturnType<typeof openChannel>>;

async function openChannel({ consuming }: Broker) {
  const connection = await consuming.connected(AbortSignal.timeout(60_000));
  return connection.createConfirmChannel();
}

async function inTransactions(messages: number, write: (count: number) => Promise<void>): Promise<void> {
  let left = messages;
  const writer = async (): Promise<void> => {
    while (left > 0) {
      const count = Math.min(IN_A_TRANSACTION, left);
      left -= count;
      await write(count);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

async function publishRaw(channel: ConfirmChannel, messages: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const rows = payloads(messages).map(({ payload }) => Buffer.from(JSON.stringify(payload)));
  let [next, confirmed] = [0, 0];
  const publish = (): void => {
    while (next < messages && next - confirmed < UNCONFIRMED) {
      const messageId = randomUUID();
      const properties = {
        ...{ messageId, correlationId: messageId, type: TransferObserved.name, contentType: 'application/json' },
        ...{ headers: { version: 1, merchant_id: MERCHANT }, timestamp: Math.floor(Date.now() / 1000) },
        ...{ persistent: true, mandatory: true },
      };
      channel.publish(EXCHANGE, TransferObserved.name, rows[next] as Buffer, properties, (error: unknown) => {
        if (error !== null && error !== undefined) reject(new Error('not confirmed', { cause: error }));
        confirmed += 1;
        if (confirmed === messages) resolve(undefined);
        else publish();
      });
      next += 1;
    }
  };
  publish();
  await promise;
}

async function untilSent(pool: Pool, messages: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ sent: number }>('select count(*)::integer as sent from sent_message');
    if (rows[0]?.sent === messages) return;
    await delay(LOOK_EVERY_MS);
  }
}

async function empty(pool: Pool, channel: ConfirmChannel): Promise<void> {
  await channel.purgeQueue(QUEUE);
  await pool.query('truncate sent_message');
}

const MERCHANT = `mer_${'0'.repeat(32)}`;
const WALLET = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';

const payloads = (count: number): { payload: TransferObserved }[] =>
  Array.from({ length: count }, (_, position) => ({
    payload: {
      ...{ merchant_id: MERCHANT, network: 'ethereum', transaction_id: 'a1'.repeat(32) },
      ...{ transaction_event_index: position, block_number: 24_100_512, block_hash: `0x${'b2'.repeat(32)}` },
      ...{ block_timestamp: '2026-01-05T10:02:11.000Z', from: WALLET, to: WALLET, amount_units: '10500000' },
      ...{ decimals: 6, phase: 'seen', version: 1, confirmations: 1, confirmations_required: 12 },
    },
  }));

const rowsOf = (count: number) => payloads(count).map(({ payload }) => composeMessage(TransferObserved, payload));

async function timed(run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return (performance.now() - startedAt) / 1000;
}
