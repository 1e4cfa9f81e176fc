import { PaymentClosed } from '@quittance/contracts/messages/payment-closed.ts';
import { PaymentCreated } from '@quittance/contracts/messages/payment-created.ts';
import { PaymentPaid } from '@quittance/contracts/messages/payment-paid.ts';
import { paymentStatuses, type PaymentStatus } from '@quittance/contracts/payment.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { NewOutboxRow } from '@quittance/messaging/outbox/store.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { isUnfinished, transitions } from './state.ts';
import type { PaymentRow } from './store/payment.ts';

type TransferId = { transaction_id: string; transaction_event_index: number };

export type PaymentMessages = ReturnType<typeof createPaymentMessages>;

/** The messages and metrics about payments' changes of status, written in the transaction of the change. */
export function createPaymentMessages({ outbox, metrics }: { outbox: Outbox; metrics: Metrics }) {
  const counter = metrics.counter('payment_transitions_total', 'Payments that changed status', ['from', 'to']);
  for (const from of paymentStatuses) for (const to of transitions[from]) counter.inc({ from, to }, 0);

  /** Counted after the commit. */
  const countTransition = (tx: Transaction, from: PaymentStatus, to: PaymentStatus) =>
    tx.afterCommit(() => counter.inc({ from, to }));

  const sendClosed = (tx: Transaction, payment: PaymentRow, status: PaymentClosed['status'], closedAt: Date) =>
    outbox.send(tx, PaymentClosed, {
      payment_id: payment.payment_id,
      merchant_id: payment.merchant_id,
      network: payment.network,
      recipient: payment.recipient,
      status,
      closed_at: rfc3339(closedAt),
    });

  return {
    /** The PaymentCreated message, for the statement that writes the payment. */
    composeCreated: (payment: PaymentRow): NewOutboxRow =>
      outbox.compose(PaymentCreated, {
        payment_id: payment.payment_id,
        merchant_id: payment.merchant_id,
        network: payment.network,
        recipient: payment.recipient,
        amount: payment.amount,
        created_at: rfc3339(payment.created_at),
        expires_at: rfc3339(payment.expires_at),
      }),
    /** Has the relay send PaymentCreated right after the commit. */
    sendCreatedAfterCommit: (tx: Transaction): void => tx.afterCommit(() => outbox.wake()),
    countTransition,
    /** @param before its status until now. */
    async sendPaid(tx: Transaction, payment: PaymentRow, before: PaymentStatus, transfer: TransferId): Promise<void> {
      const { paid_at: paidAt } = payment;
      if (paidAt === null) throw new Error(`${payment.payment_id} is ${payment.status} and has no paid_at`);
      await outbox.send(tx, PaymentPaid, {
        payment_id: payment.payment_id,
        merchant_id: payment.merchant_id,
        expected_amount: payment.amount,
        transaction_id: transfer.transaction_id,
        transaction_event_index: transfer.transaction_event_index,
        description: payment.description,
        paid_at: rfc3339(paidAt),
      });
      // PaymentClosed was sent for an expired or cancelled payment when it closed.
      if (isUnfinished(before)) await sendClosed(tx, payment, 'PAID', paidAt);
    },
    /** The payment stops waiting without being paid. */
    async sendClosed(
      tx: Transaction,
      payment: PaymentRow,
      status: 'EXPIRED' | 'CANCELLED',
      closedAt: Date,
    ): Promise<void> {
      await sendClosed(tx, payment, status, closedAt);
      countTransition(tx, 'PENDING', status);
    },
  };
}
