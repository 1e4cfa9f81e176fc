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
import { serve } from './orders.ts';
import type { Paid, PayerOrder, Paying } from './webhook-payer.ts';

const TICK_MS = 1;
/**
 * The most payments that wait for their commit. A machine that is slower than the rate gets the payments later, instead of a queue for
 * connections in which they run into its time limit.
 */
const MOST_WAITING = 256;
/** As many payments as may become PAID at the same time, and the relay. */
const CONNECTIONS = 16;

type Open = { pool: Pool; outbox: Outbox; merchantIds: readonly string[] };

let open: Open | null = null;
let payments = 0;

serve<PayerOrder, Paid>(async (order) => {
  if (order.kind === 'open') {
    open = await connect(order);
    return { paymentIds: [], committedAt: [], seconds: 0 };
  }
  if (open === null) throw new Error('nothing is open');
  return payEvenly(open, order);
});

async function connect(order: Extract<PayerOrder, { kind: 'open' }>): Promise<Open> {
  const common = { logger: testLogger, metrics: testMetrics };
  const { databaseUrl: url, merchantIds } = order;
  const pool = createPool({ url, schema: 'payments', max: CONNECTIONS, applicationName: 'payments', ...common });
  const broker = connectBroker({ url: order.amqpUrl, name: 'payments', ...common });
  const outbox = createOutbox({ pool, broker, signer: null, ...common });
  await eventually(() => {
    if (!broker.canPublish()) throw new Error('RabbitMQ is not reached yet');
  });
  return { pool, outbox, merchantIds };
}

/** What is late is made up for at once: the rate is kept on average, whatever a single commit takes. */
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
