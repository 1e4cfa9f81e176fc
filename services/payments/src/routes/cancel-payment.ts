import type { Author } from '@quittance/contracts/author.ts';
import { CancelPayment, CancelPaymentByOperator } from '@quittance/contracts/http/payments/payments.ts';
import { conflict, HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import type { TransactAdmitted } from '../admission.ts';
import { settleOpen, type SettlementContext } from '../settlement/settlement.ts';
import { insertCancellation } from '../store/cancellation.ts';
import { cancelPayment, findUnfinishedWallet, findPayment, type PaymentRow } from '../store/payment.ts';
import { lockWallets } from '../store/transfer.ts';
import { toPayment } from '../views/payment-json.ts';

type CancelContext = Pick<SettlementContext, 'messages' | 'logger'>;

/**
 * Cancels a PENDING payment: 200 with the payment. Another status, another merchant's payment and an unknown id are one and the same
 * 409, so that a merchant cannot learn which ids exist.
 */
export const cancelPaymentRoute = ({
  transact,
  publicBaseUrl,
  ...context
}: CancelContext & { transact: TransactAdmitted; publicBaseUrl: string }): Route =>
  callRoute(CancelPayment, async ({ params }) => {
    const cancelled = await transact(params.merchant_id, (tx) => cancelAndNotify({ ...context, tx }, params));
    if (cancelled === null) throw conflict('cancel_unavailable', 'This payment cannot be cancelled');
    return toPayment(cancelled, null, publicBaseUrl);
  });

/** By the same rule; an operator may know which payments exist, and why one cannot be cancelled. */
export const operatorCancelRoute = ({
  db,
  transact,
  publicBaseUrl,
  ...context
}: CancelContext & { db: Queryable; transact: Transact; publicBaseUrl: string }): Route =>
  callRoute(CancelPaymentByOperator, async ({ params: { payment_id: paymentId }, author }) => {
    const payment = await findPayment(db, paymentId);
    if (payment === null) throw new HttpError(404, 'Payment not found');
    const cancelled = await transact((tx) => cancelAndNotify({ ...context, tx }, payment, author));
    if (cancelled !== null) return toPayment(cancelled, null, publicBaseUrl);
    const { status } = (await findPayment(db, paymentId)) ?? payment;
    throw conflict('cancel_unavailable', `${paymentId} is ${status}: only a PENDING payment can be cancelled`);
  });

/** @param author of an operator's cancel. @returns null when the payment is not this merchant's, or not PENDING. */
async function cancelAndNotify(
  context: SettlementContext,
  { merchant_id, payment_id }: Pick<PaymentRow, 'merchant_id' | 'payment_id'>,
  author: Author | null = null,
): Promise<PaymentRow | null> {
  const { tx, messages } = context;
  const wallet = await findUnfinishedWallet(tx, payment_id);
  if (wallet === null) return null;
  // In the order in which settling locks: the wallet, then its payments.
  await lockWallets(tx, [wallet]);
  const payment = await cancelPayment(tx, merchant_id, payment_id);
  if (payment === null) return null;
  await settleOpen(context, [payment]);
  if (payment.cancelled_at) await messages.sendClosed(tx, payment, 'CANCELLED', payment.cancelled_at);
  if (author !== null) await insertCancellation(tx, payment, author);
  return payment;
}
