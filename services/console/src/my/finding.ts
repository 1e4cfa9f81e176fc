import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { paymentQueryOf } from '@quittance/contracts/http/payments/finding.ts';
import { FindMerchantTransfers, type FoundTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { ListPayments, ReadOwnPayment } from '@quittance/contracts/http/payments/payments.ts';
import { parseTransactionId } from '@quittance/contracts/ids.ts';
import { paymentsTable } from '@quittance/operator/payments.ts';
import { candidatesOf } from '@quittance/operator/transfers.ts';
import { amount, badge, table, text, walletOf, words, type View } from '@quittance/operator/view.ts';
import { paramsOf, type OwnVisit } from '../page-route.ts';
import { knownOr, partOf } from '../services.ts';
import { render, show } from '../view.ts';

/** Of a search, so many for each way in which the text may be meant. */
const SHOWN = 50;

/** By whatever names it; of a transaction also where its money is. */
export async function foundPart(visit: OwnVisit, text: string): Promise<Html> {
  const { services, viewer } = visit;
  const transactionId = parseTransactionId(text);
  const params = paramsOf(viewer);
  const [payments, where] = await Promise.all([
    foundPayments(visit, text),
    transactionId === null
      ? null
      : partOf(services.call(FindMerchantTransfers, { ...params, query: { transaction_id: transactionId } })),
  ]);
  return html`${render([paymentsTable(payments, 'payments found', 'No payment was found.')], viewer)}
  ${where === null ? [] : show(where, (known) => render(whereView(known), viewer))}`;
}

/** The own payments that a text names in any way. */
export async function foundPayments(visit: OwnVisit, text: string): Promise<Payment[]> {
  const ways = Object.entries(paymentQueryOf(text) ?? {});
  const lists = await Promise.all(ways.map(([way, value]) => foundBy(visit, way, value)));
  // Two ways may lead to one payment.
  return [...new Map(lists.flat().map((payment) => [payment.payment_id, payment])).values()];
}

const filters = ['order_id', 'reference', 'transaction_id', 'merchant_wallet'];

async function foundBy({ services, viewer }: OwnVisit, way: string, value: string) {
  if (way === 'payment_id') return ownPayments({ services, viewer }, [value]);
  if (!filters.includes(way)) return [];
  const query = { [way]: value, limit: SHOWN };
  return (await services.call(ListPayments, { ...paramsOf(viewer), query })).payments;
}

/** Those of the ids that are the merchant's. */
export async function ownPayments(
  { services, viewer }: Pick<OwnVisit, 'services' | 'viewer'>,
  ids: readonly string[],
): Promise<Payment[]> {
  const own = (id: string) =>
    knownOr(null, services.call(ReadOwnPayment, { params: { ...paramsOf(viewer).params, payment_id: id } }));
  return (await Promise.all(ids.map(own))).filter((payment) => payment !== null);
}

/** The sentence first: it explains where the money is. */
const whereView = ({ explanation, transfers }: FoundTransfers): View => [
  text(explanation),
  table('transfers of this transaction to your wallets', transfers, {
    state: ({ state }) => badge(state),
    amount: (transfer) => amount(transfer.amount),
    wallet: (transfer) => ({ first: walletOf(transfer), second: transfer.network }),
    'block time': 'block_timestamp',
    payment: (transfer) => transfer.payment_id ?? candidatesOf(transfer),
    reason: ({ reason }) => reason && words(reason),
  }),
];
