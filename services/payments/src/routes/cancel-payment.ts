import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, route, type Route } from '@quittance/http/server/route.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { PaymentMessages } from '../payment-messages.ts';
import { cancelPayment } from '../store/payment.ts';
import { toPayment } from '../views/payment-json.ts';

/**
 * Cancels a PENDING payment: 200 with the payment. Another status, another merchant's payment and an unknown id are one and the same
 * 409, so that a merchant cannot learn which ids exist.
 */
export function cancelPaymentRoute({
  transact,
  messages,
  publicBaseUrl,
}: {
  transact: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  messages: PaymentMessages;
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
        if (payment?.cancelled_at) await messages.sendClosed(tx, payment, 'CANCELLED', payment.cancelled_at);
        return payment;
      });
      if (cancelled === null) throw new HttpError(409, 'This payment cannot be cancelled');
      return { status: 200, body: toPayment(cancelled, null, publicBaseUrl) };
    },
  });
}
