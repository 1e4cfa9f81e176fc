import { PaymentClosed } from '@quittance/contracts/messages/payment-closed.ts';
import { PaymentCreated } from '@quittance/contracts/messages/payment-created.ts';
import { PaymentPaid } from '@quittance/contracts/messages/payment-paid.ts';
import { paymentStatuses, type PaymentStatus } from '@quittance/contracts/payment.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { NewOutboxRow } from '@quittance/messaging/outbox/store.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { isUnfinished, transitions as allowed } from './state.ts';
import type { PaymentRow } from './store/payment.ts';

/** Tells the other services, and the metrics, what happened to payments: in the transaction in which it happens. */
export type Announcer = {
  /** What has to be told of a creation, for the statement that writes it. */
  creation(payment: PaymentRow): NewOutboxRow;
  /** Has what was told of a creation sent off, right after the commit. */
  created(tx: Transaction): void;
  /** For metrics only. Counted after the commit. */
  moved(tx: Transaction, from: PaymentStatus, to: PaymentStatus): void;
  /** @param before its status until now. */
  paid(tx: Transaction, payment: PaymentRow, before: PaymentStatus, transfer: TransferId): Promise<void>;
  /** The payment waits no longer, and was not paid. */
  closed(tx: Transaction, payment: PaymentRow, status: 'EXPIRED' | 'CANCELLED', closedAt: Date): Promise<void>;
};

type TransferId = { transaction_id: string; transaction_event_index: number };

export function createAnnouncer({ outbox, metrics }: { outbox: Outbox; metrics: Metrics }): Announcer {
  const transitions = metrics.counter('payment_transitions_total', 'Payments that changed status', ['from', 'to']);
  for (const from of paymentStatuses) for (const to of allowed[from]) transitions.inc({ from, to }, 0);

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
    creation: (payment) =>
      outbox.compose(PaymentCreated, {
        payment_id: payment.payment_id,
        merchant_id: payment.merchant_id,
        network: payment.network,
        recipient: payment.recipient,
        amount: payment.amount,
        created_at: rfc3339(payment.created_at),
        expires_at: rfc3339(payment.expires_at),
      }),
    created: (tx) => tx.afterCommit(() => outbox.wake()),
    moved: (tx, from, to) => tx.afterCommit(() => transitions.inc({ from, to })),
    async paid(tx, payment, before, transfer) {
      const paidAt = payment.paid_at;
      if (paidAt === null) throw new Error(`${payment.payment_id} is not paid`);
      await outbox.send(tx, PaymentPaid, {
        payment_id: payment.payment_id,
        merchant_id: payment.merchant_id,
        expected_amount: payment.amount,
        transaction_id: transfer.transaction_id,
        transaction_event_index: transfer.transaction_event_index,
        description: payment.description,
        paid_at: rfc3339(paidAt),
      });
      // An expired or cancelled payment was announced as closed when it closed.
      if (isUnfinished(before)) await sendClosed(tx, payment, 'PAID', paidAt);
    },
    async closed(tx, payment, status, closedAt) {
      await sendClosed(tx, payment, status, closedAt);
      tx.afterCommit(() => transitions.inc({ from: 'PENDING', to: status }));
    },
  };
}
