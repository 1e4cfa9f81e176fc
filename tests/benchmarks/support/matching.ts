import { randomBytes, randomUUID } from 'node:crypto';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { connectBroker, type Broker } from '@quittance/messaging/broker/broker.ts';
import { EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import pg from 'pg';
import { withCpu, type CpuCounters } from './measure.ts';
import type { Measurement } from './rounds.ts';
import type { SizedPayments } from './sized-payments.ts';

export type Matcher = {
  /**
   * Says of one transfer for each of `count` waiting payments that it was seen, waits until all are CHECKING, then that it is
   * confirmed, and waits until all are PAID. A unit of work is such a payment.
   */
  match(count: number, counters: CpuCounters): Promise<Measurement>;
  close(): Promise<void>;
};

type Waiting = { payment_id: string; merchant_id: string; recipient: string; amount: string; network: string };

/** Speaks to payments as chain-watcher does. */
export async function startMatcher({ adminUrl, amqpUrl }: SizedPayments): Promise<Matcher> {
  const broker = connectBroker({ url: amqpUrl, name: 'benchmark', logger: testLogger, metrics: testMetrics });
  const db = new pg.Client({ connectionString: adminUrl });
  await db.connect();
  await db.query('set search_path = payments');
  await eventually(() => {
    if (!broker.canPublish()) throw new Error('RabbitMQ is not reached yet');
  });

  const untilAll = (payments: readonly Waiting[], status: string): Promise<void> =>
    eventually(
      async () => {
        const { rows } = await db.query<{ count: number }>({
          name: 'count-status',
          text: 'select count(*)::integer as count from payment where payment_id = any($1) and status = $2',
          values: [payments.map(({ payment_id }) => payment_id), status],
        });
        if (rows[0]?.count !== payments.length) throw new Error(`${rows[0]?.count ?? 0} payments are ${status}`);
      },
      { timeoutMs: 600_000, intervalMs: 10 },
    );

  return {
    async match(count, counters) {
      const { rows: payments } = await db.query<Waiting>(
        `select payment_id, merchant_id, recipient, amount, network from payment
          where status = 'PENDING' order by created_at desc limit $1`,
        [count],
      );
      if (payments.length < count) throw new Error(`only ${payments.length} payments wait for their money`);
      const transfers = payments.map(transferFor);
      const startedAt = performance.now();
      const { cpuUs } = await withCpu(counters, async () => {
        await publish(
          broker,
          transfers.map((transfer) => ({ ...transfer, phase: 'seen', version: 1, confirmations: 1 })),
        );
        await untilAll(payments, 'CHECKING');
        await publish(
          broker,
          transfers.map((transfer) => ({ ...transfer, phase: 'confirmed', version: 2, confirmations: 2 })),
        );
        await untilAll(payments, 'PAID');
      });
      const rate = count / ((performance.now() - startedAt) / 1000);
      return { rate, units: count, p50Ms: Number.NaN, p99Ms: Number.NaN, cpuUs };
    },
    async close() {
      await broker.close();
      await db.end();
    },
  };
}

function transferFor(payment: Waiting): Omit<TransferObserved, 'phase' | 'version' | 'confirmations'> {
  return {
    merchant_id: payment.merchant_id,
    network: payment.network,
    transaction_id: randomBytes(32).toString('hex'),
    transaction_event_index: 3,
    block_number: 1_000_000,
    block_hash: `0x${randomBytes(32).toString('hex')}`,
    block_timestamp: new Date().toISOString(),
    from: '0x00000000000000000000000000000000000000aA',
    to: payment.recipient,
    amount_units: String(parseAmount(payment.amount)),
    decimals: 6,
    confirmations_required: 2,
  };
}

async function publish(broker: Broker, messages: readonly TransferObserved[]): Promise<void> {
  const outcomes = await broker.publish(
    messages.map((message) => ({
      exchange: EXCHANGE,
      routingKey: TransferObserved.name,
      body: Buffer.from(JSON.stringify(TransferObserved.parse(message))),
      properties: {
        messageId: randomUUID(),
        correlationId: randomUUID(),
        type: TransferObserved.name,
        headers: { version: TransferObserved.version, merchant_id: message.merchant_id },
        contentType: 'application/json',
        persistent: true,
        mandatory: true,
      },
    })),
  );
  if (outcomes.some((outcome) => outcome !== 'confirmed')) throw new Error('RabbitMQ did not take every message');
}
