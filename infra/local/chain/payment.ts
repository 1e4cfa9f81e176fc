import { createHash } from 'node:crypto';
import type { PaymentDetails } from '@quittance/contracts/api/payment.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import { publicStatus, publicToken, requirePayable } from '../stack/checkout-link.ts';
import { StackError } from '../stack/directory.ts';
import { ask } from './services.ts';
import type { World } from './world.ts';

/** A payment of the running stack, as its merchant reads it. */
export type KnownPayment = {
  payment_id: string;
  details(): Promise<PaymentDetails>;
  deliveries(): Promise<DeliveryRecord[]>;
};

/**
 * Claims the payment of a checkout link: no other chain command touches it until this one ends. It is read from the services directly,
 * which needs no merchant key and does not count towards a merchant's rate limits.
 */
export async function claimPayment(world: World, link: string): Promise<KnownPayment> {
  const { stack, query, claim } = world;
  const token = publicToken(link);
  requirePayable(stack, await publicStatus(stack, token));
  const hash = createHash('sha256').update(token).digest();
  const [row] = await query<{ payment_id: string; merchant_id: string }>(
    'select payment_id, merchant_id from payments.payment where token_sha256 = $1',
    [hash],
  );
  if (row === undefined) throw new StackError('There is no payment with this link here.');
  await claim(row);
  const { payment_id: paymentId, merchant_id: merchantId } = row;
  return {
    payment_id: paymentId,
    details: () => ask<PaymentDetails>(world, 'payments', `/merchants/${merchantId}/payments/${paymentId}`),
    async deliveries() {
      const path = `/merchants/${merchantId}/payments/${paymentId}/deliveries`;
      return (await ask<{ deliveries: DeliveryRecord[] }>(world, 'webhook-dispatcher', path)).deliveries;
    },
  };
}
