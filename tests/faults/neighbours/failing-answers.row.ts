import { eventually } from '@quittance/testkit/eventually.ts';
import { newPayment } from '../../../services/payments/test/fixtures.ts';
import { startPayments } from '../../../services/payments/test/service.ts';
import type { Row } from './row.ts';

const OTHERS = 20;
const MOST_MS = 10_000;

export const row: Row = {
  name: 'failing-answers',
  about:
    'one overdue payment for which every call of chain-watcher fails, next to 20 (or --runs) others: these expire in one round',
  before: '20 of 20 others stayed PENDING forever',
  async run({ runs, onEnd }) {
    const payments = await startPayments({ replicas: 2 });
    onEnd(() => payments.close());
    const count = runs ?? OTHERS;
    const all: Awaited<ReturnType<typeof newPayment>>[] = [];
    while (all.length <= count) all.push(await newPayment(payments));
    const stuck = all[Math.floor(count / 3)]!;
    payments.stubs.chain.failingWallets.add(stuck.payment.merchant_wallet);
    await Promise.all(all.map((one) => one.age(40)));
    const startedAt = performance.now();
    payments.stubs.chain.scannedThrough = new Date();
    const pending = async (): Promise<number> => {
      const ids = all.filter((one) => one !== stuck).map(({ payment }) => payment.payment_id);
      const { rows } = await payments.db.query<{ count: number }>(
        `select count(*)::int as count from payment where payment_id = any($1) and status = 'PENDING'`,
        [ids],
      );
      return rows[0]!.count;
    };
    const expired = async () => {
      if ((await pending()) > 0) throw new Error('others are still PENDING');
    };
    await eventually(expired, { timeoutMs: 60_000 }).catch(() => undefined);
    const tookMs = performance.now() - startedAt;
    const left = await pending();
    const measured = `${left} of ${count} others were PENDING after ${(tookMs / 1000).toFixed(1)} s`;
    return { broken: left > 0 || tookMs > MOST_MS ? [measured] : [], measured: [measured] };
  },
};
