import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@quittance/contracts/ids.ts';
import { PaymentPaid } from '@quittance/contracts/messages.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { createOutbox, type Outbox } from '@quittance/messaging/outbox/outbox.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { machineMs } from './machine-clock.ts';
import { serve } from './forked.ts';
import type { Paying, startWebhookPayer } from './webhook-payer.ts';

const TICK_MS = 1;
/**
 * The most payments that wait for their commit. A machine slower than the rate gets the payments later, instead of a queue for
 * connections in which they time out.
 */
const MOST_WAITING = 256;
/** For payments that become PAID at the same time, and for the relay. */
const CONNECTIONS = 16;

type Open = { pool: Pool; outbox: Outbox; merchantIds: readonly string[] };

/** `committedAt`: when this process learned of each commit (`machineMs`), in the order of `paymentIds`. */
export type Paid = { paymentIds: string[]; committedAt: number[]; seconds: number };

let opened: Open | null = null;
let payments = 0;

const handlers = serve({
  async open({ databaseUrl: url, amqpUrl, merchantIds }: Parameters<typeof startWebhookPayer>[0]) {
    const common = { logger: testLogger, metrics: testMetrics };
    const pool = createPool({ url, schema: 'payments', max: CONNECTIONS, applicationName: 'payments', ...common });
    const broker = connectBroker({ url: amqpUrl, name: 'payments', ...common });
    const outbox = createOutbox({ pool, broker, signer: null, ...common });
    await eventually(() => {
      if (!broker.canPublish()) throw new Error('RabbitMQ is not reached yet');
    });
    opened = { pool, outbox, merchantIds };
  },
  /** Answers when the last payment is committed. */
  pay(how: Paying): Promise<Paid> {
    if (opened === null) throw new Error('nothing is open');
    return payEvenly(opened, how);
  },
});
export type PayerProcess = typeof handlers;

/** Late payments follow immediately, so the average rate stays the same however long a single commit takes. */
async function payEvenly(open: Open, { aSecond, durationMs }: Paying): Promise<Paid> {
  const count = Math.round((aSecond * durationMs) / 1000);
  const paymentIds = Array.from({ length: count }, () => newId('pay'));
  const committedAt = Array<number>(count).fill(Number.NaN);
  const commits: Promise<void>[] = [];
  let committed = 0;
  const payOne = async (position: number): Promise<void> => {
    committedAt[position] = await pay(open, paymentIds[position]!);
    committed += 1;
  };
  const startedAt = machineMs();
  while (commits.length < count) {
    const due = Math.ceil(((machineMs() - startedAt) * aSecond) / 1000);
    const until = Math.min(count, due, committed + MOST_WAITING);
    while (commits.length < until) commits.push(payOne(commits.length));
    await delay(TICK_MS);
  }
  await Promise.all(commits);
  return { paymentIds, committedAt, seconds: (machineMs() - startedAt) / 1000 };
}

/** @returns when it was committed. */
async function pay({ pool, outbox, merchantIds }: Open, paymentId: string): Promise<number> {
  payments += 1;
  const merchantId = merchantIds[payments % merchantIds.length]!;
  let committedAt = Number.NaN;
  await transaction(pool, async (tx) => {
    tx.afterCommit(() => (committedAt = machineMs()));
    await outbox.send(tx, PaymentPaid, {
      payment_id: paymentId,
      merchant_id: merchantId,
      expected_amount: '12.50',
      transaction_id: 'c0ffee00'.repeat(8),
      transaction_event_index: 3,
      description: 'Order 12345, two teas',
      paid_at: new Date().toISOString(),
    });
  });
  return committedAt;
}
