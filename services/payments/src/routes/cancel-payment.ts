import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, route, type Route } from '@quittance/http/server/route.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Announcer } from '../announcer.ts';
import { toPayment } from '../payment-json.ts';
import { cancelPayment } from '../store/payment.ts';

/**
 * Cancels a payment that still waits: 200 with the payment. Everything else is one and the same 409, so that a merchant cannot
 * learn which ids exist elsewhere: another status, another merchant's payment, an unknown id.
 */
export function cancelPaymentRoute({
  transact,
  announcer,
  publicBaseUrl,
}: {
  transact: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  announcer: Announcer;
  publicBaseUrl: string;
}): Route {
  return route({
    method: 'POST',
    path: '/internal/v1/merchants/:merchant_id/payments/:payment_id/cancel',
    handle: async ({ params }) => {
      const cancelled = await transact(async (tx) => {
        const payment = await cancelPayment(
          tx,
          pathParameter(params, 'merchant_id'),
          pathParameter(params, 'payment_id'),
        );
        if (payment?.cancelled_at) await announcer.closed(tx, payment, 'CANCELLED', payment.cancelled_at);
        return payment;
      });
      if (cancelled === null) throw new HttpError(409, 'This payment cannot be cancelled');
      return { status: 200, body: toPayment(cancelled, null, publicBaseUrl) };
    },
  });
}
