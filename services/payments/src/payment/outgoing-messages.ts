import {
  eventExtraNames,
  type EventExtras,
  paymentStatuses,
  type PaymentStatus,
} from '@quittance/contracts/api/payment.ts';
import { NoticeRaised, PaymentClosed, PaymentCreated, PaymentPaid } from '@quittance/contracts/messages.ts';
import type { UnmatchedMoney, NoticeType } from '@quittance/contracts/webhook.ts';
import type { MessageOrigin, Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { isUnfinished, transitions } from './state.ts';
import type { MovedPayment, PaymentRow } from './payment.sql.ts';
import type { PaidParts } from '../settlement/parts.sql.ts';
import type { TransferRow } from '../settlement/transfer.sql.ts';

/** A payment that has become PAID. */
export type Paid = {
  payment: PaymentRow;
  /** Its status before. */
  before: PaymentStatus;
  transfer: { transaction_id: string; transaction_event_index: number };
  /** Set when it pays because somebody accepted it. */
  accepted?: AcceptedTransfer | undefined;
  /** What its transfers add up to, if it has its address for itself. */
  parts?: PaidParts | undefined;
  /** The traceparent of the span that the change belongs to, when that is not the current one. */
  traceparent?: string | undefined;
};

/** An accepted transfer, and why it did not pay automatically. */
export type AcceptedTransfer = { transfer: TransferRow; money: UnmatchedMoney };

export type PaymentMessages = ReturnType<typeof createPaymentMessages>;

/** The messages and metrics about payments' changes of status, written in the transaction of the change. */
export function createPaymentMessages({ outbox, metrics }: { outbox: Outbox; metrics: Metrics }) {
  const counter = metrics.counter('payment_transitions_total', 'Payments that changed status', ['from', 'to']);
  for (const from of paymentStatuses) for (const to of transitions[from]) counter.inc({ from, to }, 0);

  /** Counted after the commit. */
  const countTransition = (tx: Transaction, from: PaymentStatus, to: PaymentStatus) =>
    tx.afterCommit(() => counter.inc({ from, to }));

  return {
    async sendCreated(tx: Transaction, created: readonly ({ payment: PaymentRow } & MessageOrigin)[]): Promise<void> {
      await outbox.sendAll(
        tx,
        PaymentCreated,
        created.map(({ payment, ...origin }) => ({ payload: createdMessage(payment), ...origin })),
      );
    },
    countTransition,
    async sendPaid(tx: Transaction, paid: readonly Paid[]): Promise<void> {
      await outbox.sendAll(
        tx,
        PaymentPaid,
        paid.map(({ traceparent, ...one }) => ({ payload: paidMessage(one), traceparent })),
      );
      // PaymentClosed was sent for an expired or cancelled payment when it closed.
      const closed = paid.filter(({ before }) => isUnfinished(before));
      await outbox.sendAll(
        tx,
        PaymentClosed,
        closed.map(({ payment, traceparent }) => ({
          payload: closedMessage(payment, 'PAID', paidAtOf(payment)),
          traceparent,
        })),
      );
    },
    /** The payment stops waiting without being paid. */
    async sendClosed(
      tx: Transaction,
      payment: MovedPayment,
      status: 'EXPIRED' | 'CANCELLED',
      closedAt: Date,
      /** How many unmatched transfers may be for it. */
      candidateTransfers = 0,
    ): Promise<void> {
      await outbox.send(tx, PaymentClosed, closedMessage(payment, status, closedAt));
      const type = status === 'EXPIRED' ? 'payment.expired' : 'payment.cancelled';
      if (payment.is_chosen) {
        const notice = paymentNotice(type, payment, null);
        const counted = candidateTransfers === 0 ? {} : { candidate_transfers: candidateTransfers };
        await outbox.send(tx, NoticeRaised, { ...notice, ...counted });
      }
      countTransition(tx, 'PENDING', status);
    },
    ...noticeSender(outbox),
  };
}

const createdMessage = (payment: PaymentRow): PaymentCreated => ({
  payment_id: payment.payment_id,
  merchant_id: payment.merchant_id,
  network: payment.network,
  recipient: payment.recipient,
  amount: payment.amount,
  created_at: rfc3339(payment.created_at),
  expires_at: rfc3339(payment.expires_at),
  ...restOf(payment),
});

/** How long its address stays its own. */
const restOf = ({ rest_seconds: seconds }: PaymentRow) => (seconds === null ? {} : { rest_seconds: seconds });

const paidMessage = ({ payment, transfer, accepted, parts }: Paid): PaymentPaid => ({
  payment_id: payment.payment_id,
  merchant_id: payment.merchant_id,
  expected_amount: payment.amount,
  transaction_id: transfer.transaction_id,
  transaction_event_index: transfer.transaction_event_index,
  description: payment.description,
  paid_at: rfc3339(paidAtOf(payment)),
  ...extrasOf(payment),
  ...(accepted && { accepted: true, transfer: accepted.money }),
  ...parts,
});

const closedMessage = (payment: PaymentRow, status: PaymentClosed['status'], closedAt: Date): PaymentClosed => ({
  payment_id: payment.payment_id,
  merchant_id: payment.merchant_id,
  network: payment.network,
  recipient: payment.recipient,
  status,
  closed_at: rfc3339(closedAt),
  ...restOf(payment),
});

function paidAtOf({ payment_id: paymentId, status, paid_at: paidAt }: PaymentRow): Date {
  if (paidAt === null) throw new Error(`${paymentId} is ${status} and has no paid_at`);
  return paidAt;
}

type Transfer = { transaction_id: string; transaction_event_index: number };

/** An unmatched transfer, and the merchant who is notified of it. */
export type UnmatchedNotice = {
  merchantId: string;
  /** The only payment it may be for; null when there are several or none. */
  payment: PaymentRow | null;
  /** The merchant's own payments that it may be for, and whether another merchant has one. */
  candidates: readonly string[];
  elsewhere: boolean;
  transfer: Transfer;
  money: UnmatchedMoney;
};

/** A payment that has become CHECKING, and the transfer that caused it. `traceparent`: of the span that the change belongs to. */
export type Checking = { payment: MovedPayment; transfer: Transfer; traceparent?: string | undefined };

/** Sends the notices of one transaction that are about transfers. */
const noticeSender = (outbox: Outbox) => ({
  async sendChecking(tx: Transaction, checking: readonly Checking[]): Promise<void> {
    const chosen = checking.filter(({ payment }) => payment.is_chosen);
    const messages = chosen.map(({ payment, transfer, traceparent }) => ({
      payload: paymentNotice('payment.checking', payment, transfer),
      traceparent,
    }));
    await outbox.sendAll(tx, NoticeRaised, messages);
  },
  /** Confirmed transfers are unmatched. */
  async sendUnmatched<N extends UnmatchedNotice>(
    tx: Transaction,
    unmatched: readonly N[],
    traceparentOf: (notice: N) => string | undefined,
  ): Promise<void> {
    const messages = unmatched.map((notice) => ({
      payload: unmatchedNotice(notice),
      traceparent: traceparentOf(notice),
    }));
    await outbox.sendAll(tx, NoticeRaised, messages);
  },
});

/** @param transfer that makes it CHECKING, else null. */
const paymentNotice = (
  type: Exclude<NoticeType, 'transfer.unmatched'>,
  payment: PaymentRow,
  transfer: Transfer | null,
): NoticeRaised => ({ merchant_id: payment.merchant_id, event_type: type, ...about(payment, transfer) });

const unmatchedNotice = ({
  merchantId,
  payment,
  candidates,
  elsewhere,
  transfer,
  money,
}: UnmatchedNotice): NoticeRaised => ({
  merchant_id: merchantId,
  event_type: 'transfer.unmatched',
  ...about(payment, transfer),
  transfer: money,
  candidates: [...candidates],
  ...(elsewhere && { candidates_elsewhere: true }),
});

function about(payment: PaymentRow | null, transfer: Transfer | null) {
  return {
    payment_id: payment?.payment_id ?? null,
    expected_amount: payment?.amount ?? null,
    description: payment?.description ?? null,
    transaction_id: transfer?.transaction_id ?? null,
    transaction_event_index: transfer?.transaction_event_index ?? null,
    ...(payment !== null && extrasOf(payment)),
  };
}

/** The fields of a payment that events repeat, when it has them. */
const extrasOf = (payment: PaymentRow): EventExtras =>
  Object.fromEntries(eventExtraNames.filter((name) => payment[name] !== null).map((name) => [name, payment[name]]));
