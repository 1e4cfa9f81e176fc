import { TransferObserved } from '@quittance/contracts/messages.ts';
import {
  createUntil,
  dustOn,
  newMerchants,
  payHonestly,
  probeUntil,
  untilRecorded,
} from '../../../services/payments/test/dust.ts';
import { newPayment } from '../../../services/payments/test/fixtures.ts';
import { startPayments } from '../../../services/payments/test/service.ts';
import { latenciesOf } from '../../benchmarks/support/latencies.ts';
import type { Row } from './row.ts';

const TRANSFERS = 1_500;
const MERCHANTS = 5;
const QUIET_MS = 5_000;
/** How much longer an honest transfer may wait than without the dust. */
const HONEST_MS = 1_000;

export const row: Row = {
  name: 'dust',
  about:
    '1,500 (or --runs) transfers of a millionth of a USDT to one wallet, 2 ms away from the database, at two replicas: five merchants ' +
    'create as before, readiness holds, and an honest transfer does not wait',
  before: '15 of 120 creations and 11 of 30 readiness probes were 503; the honest transfer waited 34 s',
  async run({ runs, onEnd }) {
    const payments = await startPayments({ replicas: 2 });
    onEnd(() => payments.close());
    payments.faults.database.delay(1);
    const merchants = await newMerchants(payments, MERCHANTS);
    const [dusty, honest] = await newMerchants(payments, 2);

    const quietUntil = performance.now() + QUIET_MS;
    const isOver = () => performance.now() > quietUntil;
    const [quiet, quietMs] = await Promise.all([
      createUntil(payments, merchants, isOver),
      payHonestly(payments, honest!),
    ]);

    const target = await newPayment(payments, {}, dusty);
    const count = runs ?? TRANSFERS;
    await payments.publishAll(TransferObserved, dustOn(target, count));
    let drained = false;
    const [drainedMs, honestMs, noisy, probes] = await Promise.all([
      untilRecorded(payments, target.payment.merchant_wallet, count).finally(() => (drained = true)),
      payHonestly(payments, honest!),
      createUntil(payments, merchants, () => drained),
      probeUntil(payments, () => drained),
    ]);
    const [without, beside] = [latenciesOf(quiet.ms), latenciesOf(noisy.ms)];
    const broken: string[] = [];
    if (noisy.refused > 0) broken.push(`${noisy.refused} of ${beside.count} creations were 503`);
    if (probes.refused > 0) broken.push(`${probes.refused} of ${probes.asked} readiness probes were refused`);
    if (honestMs > quietMs + HONEST_MS) broken.push(`the honest transfer waited ${honestMs.toFixed(0)} ms`);
    return {
      broken,
      measured: [
        `${noisy.refused} of ${beside.count} creations and ${probes.refused} of ${probes.asked} readiness probes were 503; ` +
          `the honest transfer waited ${(honestMs / 1000).toFixed(2)} s, and ${(quietMs / 1000).toFixed(2)} s without the dust`,
        `creation p99 ${without.p99.toFixed(0)} ms without, ${beside.p99.toFixed(0)} ms with the dust; ` +
          `${count} transfers were recorded in ${(drainedMs / 1000).toFixed(1)} s, ${((count / drainedMs) * 1000).toFixed(0)} a second`,
      ],
    };
  },
};
