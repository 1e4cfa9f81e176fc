import { NoticeRaised } from '@quittance/contracts/messages/notice-raised.ts';
import type { PaymentPaid } from '@quittance/contracts/messages/payment-paid.ts';
import type { NoticeType, UnmatchedMoney } from '@quittance/contracts/webhook.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { MovedPayment, PaymentRow } from './store/payment.ts';

type Transfer = { transaction_id: string; transaction_event_index: number };

/** A transfer that pays nothing, and the merchant who is notified of it. */
export type UnmatchedNotice = {
  merchantId: string;
  /** The only payment that it may be for; null where there are several or none. */
  payment: PaymentRow | null;
  /** The merchant's own payments that it may be for, and whether another merchant has one. */
  candidates: readonly string[];
  elsewhere: boolean;
  transfer: Transfer;
  money: UnmatchedMoney;
};

/** A payment that has become CHECKING, by this transfer. `traceparent`: of the span that the change belongs to. */
export type Checking = { payment: MovedPayment; transfer: Transfer; traceparent?: string | undefined };

/** Sends the notices of one transaction that are about transfers. */
export const noticeSender = (outbox: Outbox) => ({
  async sendChecking(tx: Transaction, checking: readonly Checking[]): Promise<void> {
    const chosen = checking.filter(({ payment }) => payment.is_chosen);
    const messages = chosen.map(({ payment, transfer, traceparent }) => ({
      payload: paymentNotice('payment.checking', payment, transfer),
      traceparent,
    }));
    await outbox.sendAll(tx, NoticeRaised, messages);
  },
  /** Transfers are confirmed and pay nothing. */
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

/** @param transfer by which it is CHECKING, else null. */
export const paymentNotice = (
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

/** What the merchant gave a payment besides, where it has that. */
export const extrasOf = (payment: PaymentRow): Pick<PaymentPaid, 'order_id' | 'metadata' | 'requested_amount'> => ({
  ...(payment.order_id !== null && { order_id: payment.order_id }),
  ...(payment.metadata !== null && { metadata: payment.metadata }),
  ...(payment.requested_amount !== null && { requested_amount: payment.requested_amount }),
});
