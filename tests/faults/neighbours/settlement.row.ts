import { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { dustOn, newMerchants, payablePayments, untilRecorded } from '../../../services/payments/test/dust.ts';
import { newPayment } from '../../../services/payments/test/fixtures.ts';
import { startPayments } from '../../../services/payments/test/service.ts';
import type { Row } from './row.ts';

const TRANSFERS = 3_000;

export const row: Row = {
  name: 'settlement',
  about:
    'how many transfers a second two replicas settle: to one wallet that pay nothing, and to a wallet each that pay a payment each',
  before: '250 settled transfers a second',
  async run({ runs, onEnd }) {
    const payments = await startPayments({ replicas: 2 });
    onEnd(() => payments.close());
    const [merchantId] = await newMerchants(payments, 1);
    const count = runs ?? TRANSFERS;
    const target = await newPayment(payments, {}, merchantId);
    const rate = (ms: number): string => `${((count / ms) * 1000).toFixed(0)} a second`;

    await payments.sayAll(TransferObserved, dustOn(target, count));
    const dustMs = await untilRecorded(payments, target.payment.merchant_wallet, count);

    const paying = await payablePayments(payments, merchantId!, count);
    await payments.db.query('analyze');
    await payments.sayAll(TransferObserved, paying);
    const startedAt = performance.now();
    await eventually(
      async () => {
        const { rows } = await payments.db.query<{ paid: number }>(
          `select count(*)::int as paid from payment where status = 'PAID'`,
        );
        if (rows[0]!.paid < count) throw new Error(`${rows[0]!.paid} of ${count} payments are paid`);
      },
      { timeoutMs: 300_000, intervalMs: 20 },
    );
    return {
      broken: [],
      measured: [`${rate(dustMs)} that pay nothing, ${rate(performance.now() - startedAt)} that pay`],
    };
  },
};
