import type { IPaymentModuleService, MedusaContainer } from '@medusajs/framework/types';
import { Modules } from '@medusajs/framework/utils';
import { processPaymentWorkflow } from '@medusajs/medusa/core-flows';
import type { Payment } from '@quittance/sdk';
import { accounts } from '../accounts.ts';

const DAY_MS = 86_400_000;

/**
 * Captures what was paid in the last day and is still unpaid here. Medusa answers a webhook before it acts on it, so an event is lost if
 * the shop stops, or cannot reach Quittance, in the seconds between.
 */
export default async function capturePaid(container: MedusaContainer): Promise<void> {
  const paidFrom = new Date(Date.now() - DAY_MS).toISOString();
  for (const quittance of accounts()) {
    const paid = new Map<string, Payment>();
    for await (const payment of quittance.eachPayment({ status: 'PAID', paid_from: paidFrom })) {
      if (payment.order_id !== null) paid.set(payment.order_id, payment);
    }
    const filter = { id: [...paid.keys()] };
    const sessions = await container
      .resolve<IPaymentModuleService>(Modules.PAYMENT)
      .listPaymentSessions(filter, { relations: ['payment'], take: paid.size });
    for (const { id, payment } of sessions) {
      const { price, requested_amount } = paid.get(id) as Payment;
      if (payment?.id !== undefined) continue;
      const data = { session_id: id, amount: price?.amount ?? requested_amount };
      await processPaymentWorkflow(container).run({ input: { action: 'captured', data } });
    }
  }
}

export const config = { name: 'quittance-capture-paid', schedule: '* * * * *' };
