import { html, type Html } from '@quittance/checkout-page/html.ts';
import { AcceptOwnTransfer } from '@quittance/contracts/api/calls.ts';
import type { Payment, PaymentDetails } from '@quittance/contracts/api/payment.ts';
import { FindMerchantTransfers, type FoundTransfer } from '@quittance/contracts/http/payments/look-ups.ts';
import { ListPayments } from '@quittance/contracts/http/payments/payments.ts';
import type { UnmatchedListed } from '@quittance/contracts/http/payments/unmatched.ts';
import { mayAct } from '@quittance/contracts/principal.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { transactionId } from '@quittance/operator/field.ts';
import { isOpenFor } from '@quittance/operator/payments.ts';
import { howManyText, reasonMeanings } from '@quittance/operator/transfers.ts';
import { amount, badge, facts, transactionOf, walletOf, type Value } from '@quittance/operator/view.ts';
import { amountCell, badgeOf, filled, link, MERCHANT_HOME, timeOf } from '../cell.ts';
import { filterForm, searchField } from '../filter.ts';
import type { MerchantViewer } from '../frame.ts';
import { inPath, paramsOf, type Context, type OwnVisit } from '../page-route.ts';
import { render } from '../view.ts';
import { foundPayments, ownPayments } from './finding.ts';
import { button, fieldsForm, given, named, ownForm } from './form.ts';

const ACCEPT = '/my/transfers/:transaction_id/:index/accept';

/** Of the payments on a wallet, so many can be chosen from. Others are searched for. */
const SHOWN = 10;

type Place = { transaction_id: string; transaction_event_index: number };

const acceptPath = ({ transaction_id, transaction_event_index: index }: Place): string =>
  filled(ACCEPT, { transaction_id, index: String(index) });

/** Where staff accepts a transfer: it chooses the payment among those that the transfer may be for. */
export const acceptRoutes = (context: Context): Route[] =>
  ownForm(context, {
    path: ACCEPT,
    title: 'Accept a transfer',
    role: 'staff',
    show: choicePart,
    act: async ({ services, request }, form) => {
      const id = named(form, 'payment_id');
      const seen = given(form, 'confirm_candidates');
      const body = {
        transaction_id: pathParameter(request.params, 'transaction_id'),
        transaction_event_index: Number(pathParameter(request.params, 'index')),
        ...(seen !== null && { confirm_candidates: Number(seen) }),
      };
      await services.call(AcceptOwnTransfer, { params: { payment_id: id }, body });
      return `${MERCHANT_HOME}/${id}`;
    },
  });

/** The transfer, and the payments that it may be for, or else those on its wallet. Others can be searched for. */
async function choicePart(visit: OwnVisit, form: URLSearchParams): Promise<Html> {
  const { viewer } = visit;
  const transfer = await transferIn(visit);
  const text = given(form, 'payment') ?? '';
  const possible = await ownPayments(visit, transfer.candidates);
  const choices =
    text !== '' ? await foundPayments(visit, text) : possible.length > 0 ? possible : await onWallet(visit, transfer);
  const shown = facts({
    received: amount(transfer.amount),
    'block time': transfer.block_timestamp,
    reason: badge(transfer.reason),
    wallet: [walletOf(transfer), ` on ${transfer.network}`],
    transaction: transactionOf(transfer),
  });
  const refused = whyNot(transfer);
  const several = possible.length > 1;
  const advice = several
    ? 'Ask your customers for the transaction ID before you accept it for one of them.'
    : reasonMeanings[transfer.reason ?? 'no_payment'];
  return html`${render([shown], viewer)}
    <p class="notice">${several ? `${howManyText(transfer.amount, possible)}. ` : ''}${refused ?? advice}</p>
    ${refused === null ? choiceForm(visit, transfer, choices, form) : possible.map((one) => html`<div class="card">${aboutPayment(one)}</div>`)}
    ${
      refused === null
        ? filterForm(acceptPath(transfer), [
            searchField('payment', 'Another payment: its id, checkout link, order number or reference', text, true),
          ])
        : []
    }`;
}

/** @returns why nobody of this merchant can accept the transfer; null if somebody can. */
function whyNot({ state, payment_id: pays, reason, candidates_elsewhere: elsewhere }: FoundTransfer): string | null {
  if (state === 'retracted') return 'It is not in the chain any more.';
  if (pays !== null && reason === null) return 'It pays a payment, or will when it is confirmed.';
  return elsewhere
    ? 'It may also be for a payment of another shop that uses this wallet, so only support can accept it.'
    : null;
}

async function transferIn({ request, services, viewer }: OwnVisit): Promise<FoundTransfer> {
  const query = { transaction_id: inPath(request, 'transaction_id', transactionId, 'Transfer not found') };
  const { transfers } = await services.call(FindMerchantTransfers, { ...paramsOf(viewer), query });
  const index = pathParameter(request.params, 'index');
  const found = transfers.find((one) => String(one.transaction_event_index) === index);
  if (found === undefined) throw new HttpError(404, 'Transfer not found');
  return found;
}

/** The newest payments that can take a transfer which seems to be meant for none. */
async function onWallet({ services, viewer }: OwnVisit, transfer: FoundTransfer): Promise<Payment[]> {
  const { merchant_wallet, network } = transfer;
  const { payments } = await services.call(ListPayments, { ...paramsOf(viewer), query: { merchant_wallet, network } });
  return payments.filter((payment) => isOpenFor(payment, transfer)).slice(0, SHOWN);
}

function choiceForm(
  visit: OwnVisit,
  transfer: FoundTransfer,
  payments: readonly Payment[],
  form: URLSearchParams,
): Html {
  const open = payments.filter((payment) => isOpenFor(payment, transfer));
  const chosen = given(form, 'payment_id') ?? (payments.length === 1 ? payments[0]?.payment_id : null);
  const count = transfer.candidates.length;
  const choices = html`<fieldset>
    <legend>For which payment?</legend>
    ${payments.map(
      (payment) =>
        html`<label class="check choice">
          <input
            type="radio"
            name="payment_id"
            value="${payment.payment_id}"
            required
            ${payment.payment_id === chosen ? html`checked` : []}
            ${open.includes(payment) ? [] : html`disabled`}
          />
          <span>${aboutPayment(payment)}</span>
        </label>`,
    )}
  </fieldset>`;
  if (open.length === 0) return html`<p class="none">No payment here can take it.</p>`;
  return html`<p>The payment becomes PAID, and your shop is told. This cannot be undone.</p>
    ${fieldsForm(
      visit,
      acceptPath(transfer),
      [
        choices,
        ...(count > 1 ? [html`<input type="hidden" name="confirm_candidates" value="${String(count)}" />`] : []),
      ],
      'Accept it for this payment',
    )}`;
}

/** What tells one payment from another of the same amount. */
const aboutPayment = (payment: Payment): Html =>
  html`<strong>${amountCell(payment)}</strong> ${badgeOf(payment.status)} ${payment.description}
    <span class="second"
      >${payment.order_id === null ? 'Reference' : `Order ${payment.order_id}, reference`}
      ${link(`${MERCHANT_HOME}/${payment.payment_id}`, payment.reference)}, created ${timeOf(payment.created_at)},
      ${payment.status === 'PENDING' ? 'expires' : 'expiry'} ${timeOf(payment.expires_at)}</span
    >`;

/** Transfers that did not pay it, which staff may accept: the money is there, and the shop decides that it is enough. */
export function acceptPart(payment: PaymentDetails, viewer: MerchantViewer): Html {
  const open = payment.unmatched_transfers.filter(({ reason }) => reason !== 'paid_another');
  if (payment.status === 'PAID' || open.length === 0 || !mayAct(viewer, 'staff')) return html``;
  return html`<section>
    <h2>Accept a transfer for this payment</h2>
    <p>The payment becomes PAID, and your shop is told. This cannot be undone.</p>
    ${open.map((transfer) => {
      const { amount: received, candidate_count: count } = transfer;
      const { payment_id } = payment;
      const path = acceptPath(transfer);
      const several = count > 1;
      return html`<div class="card">
        <p>${received} of ${payment.amount} USDT${several ? `, which may be for ${count} payments` : ''}</p>
        ${
          several
            ? html`<p class="actions">
                ${link(`${path}?payment_id=${payment_id}`, `Look at these ${count} payments`)}
              </p>`
            : button({ viewer }, path, 'Accept it', { payment_id })
        }
      </div>`;
    })}
  </section>`;
}

/** In a list of transfers, for staff. */
export const acceptLink =
  (viewer: MerchantViewer) =>
  (transfer: UnmatchedListed): Value =>
    !mayAct(viewer, 'staff') || transfer.reason === 'unconfirmed' || transfer.candidates_elsewhere
      ? null
      : { to: acceptPath(transfer), label: transfer.candidates.length > 1 ? 'Choose the payment' : 'Accept' };
