import { eventually } from '@quittance/testkit/eventually.ts';
import pg from 'pg';
import { withCpu, type CpuCounters } from './measure.ts';
import type { Measurement } from './rounds.ts';
import type { SizedPayments } from './sized-payments.ts';
import { connectPublisher, publishTransfers, transferFor, type PayablePayment } from './transfers.ts';

export type Matcher = {
  /**
   * Says of one transfer for each of `count` waiting payments that it was seen, waits until all are CHECKING, then that it is
   * confirmed, and waits until all are PAID. A unit of work is such a payment.
   */
  match(count: number, counters: CpuCounters): Promise<Measurement>;
  close(): Promise<void>;
};

/** Speaks to payments as chain-watcher does. */
export async function startMatcher({ adminUrl, amqpUrl }: SizedPayments): Promise<Matcher> {
  const broker = await connectPublisher(amqpUrl);
  const db = new pg.Client({ connectionString: adminUrl });
  await db.connect();
  await db.query('set search_path = payments');

  const untilAll = (payments: readonly PayablePayment[], status: string): Promise<void> =>
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
      const { rows: payments } = await db.query<PayablePayment>(
        `select payment_id, merchant_id, recipient, amount, network from payment
          where status = 'PENDING' order by created_at desc limit $1`,
        [count],
      );
      if (payments.length < count) throw new Error(`only ${payments.length} payments wait for their money`);
      const transfers = payments.map(transferFor);
      const startedAt = performance.now();
      const { cpuUs } = await withCpu(counters, async () => {
        await publishTransfers(
          broker,
          transfers.map((transfer) => ({ ...transfer, phase: 'seen', version: 1, confirmations: 1 })),
        );
        await untilAll(payments, 'CHECKING');
        await publishTransfers(
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
