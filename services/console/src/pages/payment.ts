import { html, type Html } from '@quittance/checkout-page/html.ts';
import { AcceptTransfer, type AcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import {
  CancelPaymentByOperator,
  type LedgerEntry,
  type OperatorsPayment,
} from '@quittance/contracts/http/payments/payments.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { badge, facts, link, merchantLink, table, time, walletLink } from './parts.ts';

/** What a payment is, and the transfers that came for it. */
export const paymentPage = (payment: OperatorsPayment, viewer: Viewer): Html =>
  html`${facts({
    Status: badge(payment.status),
    Merchant: merchantLink(payment.merchant_id),
    Amount: `${payment.amount} ${payment.currency}`,
    Wallet: html`${walletLink(payment.merchant_wallet)} on ${payment.network}`,
    Description: payment.description,
    Order: payment.order_id,
    Reference: payment.reference,
    Expires: time(payment.expires_at),
    'Waits for': payment.transaction?.waiting_for?.replaceAll('_', ' ') ?? null,
    Transaction: payment.transaction?.transaction_id ?? null,
  })}
  ${
    payment.status === 'PENDING' && mayCall(viewer, CancelPaymentByOperator.access)
      ? html`<p class="actions">${link(`/payments/${payment.payment_id}/cancel`, 'Cancel')}</p>`
      : []
  }
  ${table('Transfers', payment.transfers, {
    Amount: ({ amount }) => `${amount} USDT`,
    'Block time': ({ block_timestamp: at }) => time(at),
    Transaction: ({ transaction_id: id }) => id,
    From: ({ sender }) => sender,
    Phase: ({ phase }) => badge(phase),
    Confirmations: ({ confirmations, confirmations_required: required }) => `${confirmations} of ${required}`,
    Pays: (transfer) => paysText(transfer, payment.payment_id),
    ...(mayCall(viewer, AcceptTransfer.access) &&
      payment.status !== 'PAID' && {
        Accept: ({ payment_id, transaction_id: id, transaction_event_index: index }: LedgerEntry) =>
          payment_id === null
            ? link(`/payments/${payment.payment_id}/accept?transaction_id=${id}&index=${index}`, 'Accept')
            : null,
      }),
  })}`;

export function paysText({ payment_id, reason }: LedgerEntry, paymentId: string): string {
  if (payment_id !== null) return payment_id === paymentId ? 'this payment' : payment_id;
  return reason === null ? 'nothing yet' : `nothing: ${reason.replaceAll('_', ' ')}`;
}

/** It shows both amounts and the reason, so that the operator who confirms has seen them. */
export const acceptQuestion = (candidate: AcceptanceCandidate): Html =>
  html`Accept the transfer of
    <strong>${candidate.amount} USDT</strong>
    (${(candidate.unmatched_reason ?? 'no reason against it').replaceAll('_', ' ')}, ${candidate.block_timestamp}) for
    ${candidate.payment_id}, which is ${candidate.status} and asks for
    <strong>${candidate.expected_amount} USDT</strong>? It becomes PAID for good.`;

/** What comes after is said before it: the customer's money may be on its way. */
export const cancelQuestion = ({ payment_id: id, status, amount, currency }: OperatorsPayment): Html =>
  html`Cancel ${id}, which is ${status} and asks for <strong>${amount} ${currency}</strong>? Its page asks nobody for
    money any more. A transfer in a block from before pays it all the same; one from after pays nothing.`;
