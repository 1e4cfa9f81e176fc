import { html, type Html } from '@quittance/checkout-page/html.ts';
import { AcceptTransfer, type AcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import {
  CancelPaymentByOperator,
  type LedgerEntry,
  type OperatorsPayment,
} from '@quittance/contracts/http/payments/payments.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import { candidateList, severalPayments } from './candidates.ts';
import type { Viewer } from './frame.ts';
import { badge, facts, link, merchantLink, table, time, toPayment, walletLink } from './parts.ts';
import { words } from './story.ts';
import { warningsPart } from './warnings.ts';

/** What a payment is, and the transfers that came for it. */
export const paymentPage = (payment: OperatorsPayment, viewer: Viewer): Html =>
  html`${warningsPart(payment.warnings)}
  ${facts({
    Status: badge(payment.status),
    Merchant: merchantLink(payment.merchant_id),
    Amount: `${payment.amount} ${payment.currency}`,
    Wallet: html`${walletLink(payment.merchant_wallet)} on ${payment.network}`,
    Description: payment.description,
    Order: payment.order_id,
    Reference: payment.reference,
    Expires: time(payment.expires_at),
    'Waits for': payment.transaction?.waiting_for ? words(payment.transaction.waiting_for) : null,
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
    Pays: (transfer) => html`${paysText(transfer, payment.payment_id)}${othersToo(transfer)}`,
    ...(mayCall(viewer, AcceptTransfer.access) &&
      payment.status !== 'PAID' && {
        Accept: ({ payment_id, transaction_id: id, transaction_event_index: index }: LedgerEntry) =>
          payment_id === null
            ? link(`/payments/${payment.payment_id}/accept?transaction_id=${id}&index=${index}`, 'Accept')
            : null,
      }),
  })}`;

/** The transfer stands on the page of each. */
const othersToo = ({ candidates }: LedgerEntry): Html =>
  candidates.length > 1 ? html`<div>${severalPayments(candidates, toPayment)}</div>` : html``;

export function paysText({ payment_id, reason }: LedgerEntry, paymentId: string): string {
  if (payment_id !== null) return payment_id === paymentId ? 'this payment' : payment_id;
  return reason === null ? 'nothing yet' : `nothing: ${words(reason)}`;
}

/** It shows both amounts and the reason, so that the operator who confirms has seen them. */
export const acceptQuestion = (candidate: AcceptanceCandidate): Html =>
  html`Accept the transfer of
    <strong>${candidate.amount} USDT</strong>
    (${words(candidate.unmatched_reason ?? 'no reason against it')}, ${candidate.block_timestamp}) for
    ${candidate.payment_id}, which is ${candidate.status} and asks for
    <strong>${candidate.expected_amount} USDT</strong>? It becomes PAID for good.`;

/** Of several possible payments, the person says that it is this one, and how many were seen. */
export const candidatesQuestion = ({ payment_id: id, candidates }: AcceptanceCandidate): Html[] =>
  candidates.length <= 1
    ? []
    : [
        html`<p>This transfer may be for ${String(candidates.length)} payments:</p>
          ${candidateList(candidates, toPayment)}
          <label class="check">
            <input type="checkbox" name="confirm_candidates" value="${String(candidates.length)}" required />
            I know of these ${String(candidates.length)} payments, and the transfer is for ${id}.
          </label>`,
      ];

/** What comes after is said before it: the customer's money may be on its way. */
export const cancelQuestion = ({ payment_id: id, status, amount, currency }: OperatorsPayment): Html =>
  html`Cancel ${id}, which is ${status} and asks for <strong>${amount} ${currency}</strong>? Its page asks nobody for
    money any more. A transfer in a block from before still pays it; a later one does not.`;
