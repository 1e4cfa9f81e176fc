import type { Author } from '@quittance/contracts/author.ts';
import { CancelPayment, CancelPaymentByOperator } from '@quittance/contracts/http/payments/payments.ts';
import { conflict, HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact, Transaction } from '@quittance/postgres/transaction.ts';
import type { TransactAdmitted } from '../admission.ts';
import type { PaymentMessages } from '../payment-messages.ts';
import { insertCancellation } from '../store/cancellation.ts';
import { cancelPayment, findPayment, type PaymentRow } from '../store/payment.ts';
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
    const cancelled = await transact(params.merchant_id, (tx) => cancelAndTell(tx, messages, params));
    if (cancelled === null) throw conflict('cancel_unavailable', 'This payment cannot be cancelled');
    return toPayment(cancelled, null, publicBaseUrl);
  });

/** By the same rule; an operator may know which payments exist, and why one cannot be cancelled. */
export const operatorCancelRoute = ({
  db,
  transact,
  messages,
  publicBaseUrl,
}: {
  db: Queryable;
  transact: Transact;
  messages: PaymentMessages;
  publicBaseUrl: string;
}): Route =>
  callRoute(CancelPaymentByOperator, async ({ params: { payment_id: paymentId }, author }) => {
    const payment = await findPayment(db, paymentId);
    if (payment === null) throw new HttpError(404, 'Payment not found');
    const cancelled = await transact((tx) => cancelAndTell(tx, messages, payment, author));
    if (cancelled !== null) return toPayment(cancelled, null, publicBaseUrl);
    const { status } = (await findPayment(db, paymentId)) ?? payment;
    throw conflict('cancel_unavailable', `${paymentId} is ${status}: only a PENDING payment can be cancelled`);
  });

/** @param author of an operator's cancel. @returns null when the payment is not this merchant's, or not PENDING. */
async function cancelAndTell(
  tx: Transaction,
  messages: PaymentMessages,
  { merchant_id, payment_id }: Pick<PaymentRow, 'merchant_id' | 'payment_id'>,
  author: Author | null = null,
): Promise<PaymentRow | null> {
  const payment = await cancelPayment(tx, merchant_id, payment_id);
  if (payment?.cancelled_at) await messages.sendClosed(tx, payment, 'CANCELLED', payment.cancelled_at);
  if (payment !== null && author !== null) await insertCancellation(tx, payment, author);
  return payment;
}
