import { randomBytes } from 'node:crypto';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { testMetrics } from '@quittance/testkit/logger.ts';
import { createAdmission } from '../../../services/payments/src/gate/admission.ts';
import { createPayment } from '../../../services/payments/src/payment/create.ts';
import { createAccessRefresh } from '../../../services/payments/src/gate/refresh.ts';
import { createPaymentMessages } from '../../../services/payments/src/payment/outgoing-messages.ts';
import { toCreation } from '../../../services/payments/src/payment/http.ts';
import { ownersIn } from '../../../services/payments/test/model/other-services.ts';
import type { Run } from '../../../services/payments/test/model/run.ts';
import { PRICE, type Kind } from './shop.ts';

/** Creates a payment of the price for an order of the shop. Null: another payment holds the amount. @throws when it cannot be decided. */
export type Create = (order: string) => Promise<Payment | null>;

/** Creates payments as a replica does. The model's runs have no unique amounts. */
export function creator({ world, settings, otherServices, merchants, wallets, networks }: Run, kind: Kind): Create {
  const pool = world.pools[0];
  const [merchant, wallet, network] = [merchants[0]!, wallets[0]!, networks[0]!];
  const messages = createPaymentMessages({ outbox: world.outbox, metrics: testMetrics });
  const transact = createAdmission(pool);
  const refresh = createAccessRefresh({ owners: ownersIn(otherServices), transact });
  return async (order) => {
    const body = {
      ...{ idempotency_key: randomBytes(8).toString('hex'), amount: PRICE, merchant_wallet: wallet },
      ...{ network: network.id, description: `Order ${order}`, order_id: order },
      ...(kind === 'unique' && { unique_amount: true as const }),
    };
    const result = await createPayment(
      {
        pool,
        transact,
        messages,
        refresh,
        rules: { ...settings, networks: [network.id] },
        rates: { maxAgeSeconds: 300, maxSpreadPercent: 1 },
        fillPool: () => Promise.resolve(),
      },
      toCreation(merchant, body, [network]),
    );
    if (result.outcome === 'slot_taken') return null;
    if (result.outcome !== 'created') throw new Error(`creation of ${order}: ${result.outcome}`);
    return JSON.parse(result.body.toString('utf8')) as Payment;
  };
}
