import { CancelPayment } from '@quittance/contracts/http/payments/payments.ts';
import { conflict } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { TransactAdmitted } from '../admission.ts';
import type { PaymentMessages } from '../payment-messages.ts';
import { cancelPayment } from '../store/payment.ts';
import { toPayment } from '../views/payment-json.ts';

/**
 * Cancels a PENDING payment: 200 with the payment. Another status, another merchant's payment and an unknown id are one and the same
 * 409, so that a merchant cannot learn which ids exist.
 */
export const cancelPaymentRoute = ({
  transact,
  messages,
  publicBaseUrl,
}: {
  transact: TransactAdmitted;
  messages: PaymentMessages;
  publicBaseUrl: string;
}): Route =>
  callRoute(CancelPayment, async ({ params }) => {
    const cancelled = await transact(params.merchant_id, async (tx) => {
      const payment = await cancelPayment(tx, params.merchant_id, params.payment_id);
      if (payment?.cancelled_at) await messages.sendClosed(tx, payment, 'CANCELLED', payment.cancelled_at);
      return payment;
    });
    if (cancelled === null) throw conflict('cancel_unavailable', 'This payment cannot be cancelled');
    return toPayment(cancelled, null, publicBaseUrl);
  });
