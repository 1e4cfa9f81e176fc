import { TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { dustOn, newMerchants, payablePayments } from '../../../services/payments/test/dust.ts';
import { newPayment } from '../../../services/payments/test/fixtures.ts';
import { type PaymentsUnderTest, startPayments } from '../../../services/payments/test/service.ts';
import type { Row } from './row.ts';

const TRANSFERS = 3_000;

/**
 * All messages are in the queue before the replicas may consume the first. @returns how many are settled a second, by the database's clock.
 */
async function rateOf(payments: PaymentsUnderTest, transfers: readonly TransferObserved[]): Promise<string> {
  payments.faults.broker.cut();
  await payments.publishAll(TransferObserved, transfers);
  await eventually(async () => {
    const waiting = await payments.queueSize('payments.transfer-observed');
    if (waiting < transfers.length) throw new Error(`${waiting} of ${transfers.length} messages are in the queue`);
  });
  payments.faults.broker.restore();
  const ids = transfers.map(({ transaction_id: id }) => id);
  const seconds = await eventually(
    async () => {
      const { rows } = await payments.db.query<{ count: number; seconds: number }>(
        `select count(*)::int as count, extract(epoch from max(observed_at) - min(observed_at))::float8 as seconds
           from transfer where transaction_id = any($1)`,
        [ids],
      );
      if (rows[0]!.count < transfers.length) throw new Error(`${rows[0]!.count} of ${transfers.length} are settled`);
      return rows[0]!.seconds;
    },
    { timeoutMs: 300_000, intervalMs: 250 },
  );
  return (transfers.length / seconds).toFixed(0);
}

export const row: Row = {
  name: 'settlement',
  about:
    'how many transfers a second two replicas settle: unmatched ones to one wallet, and ones to different wallets that each pay a payment',
  before: '250 settled transfers a second',
  async run({ runs, onEnd }) {
    const payments = await startPayments({ replicas: 2 });
    onEnd(() => payments.close());
    const [merchantId] = await newMerchants(payments, 1);
    const count = runs ?? TRANSFERS;
    const target = await newPayment(payments, {}, merchantId);
    const dust = dustOn(target, count);
    const paying = await payablePayments(payments, merchantId!, count);
    await payments.db.query('analyze');
    const rates = [];
    for (const transfers of [dust, paying]) rates.push(await rateOf(payments, transfers));
    return { broken: [], measured: [`${rates[0]} a second that pay nothing, ${rates[1]} a second that pay`] };
  },
};
