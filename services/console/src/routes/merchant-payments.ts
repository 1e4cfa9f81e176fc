import { html } from '@quittance/checkout-page/html.ts';
import { paymentQueryOf } from '@quittance/contracts/http/payments/finding.ts';
import { FindMerchantTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { ListPayments, ReadOwnPayment } from '@quittance/contracts/http/payments/payments.ts';
import { ListDeliveries, ReadOwnEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { isId, parseTransactionId } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { ownPaymentPage, ownStoryPart } from '../pages/merchant-payment.ts';
import { ownPaymentsTable, ownSearchForm, whereTable } from '../pages/merchant-payments.ts';
import { MERCHANT_HOME } from '../pages/merchant-sections.ts';
import { show } from '../pages/parts.ts';
import { partOf } from '../upstream/services.ts';
import { ownPage, paramsOf, type OwnVisit } from './merchant-page.ts';
import type { Context } from './page-route.ts';

/** Payments on a page; of a search, so many for each way in which the text may be meant. */
const SHOWN = 50;

/** Of a payment's events, the attempts of so many are shown: PAID comes first. */
const EVENTS_SHOWN = 5;

/** A merchant's payments: listed, found by whatever names them, and one with everything that happened to it. */
export const ownPaymentRoutes = (context: Context): Route[] => [
  ownPage(context, MERCHANT_HOME, async (visit) => {
    const [text, status] = [textOf(visit, 'q'), textOf(visit, 'status')];
    const content = text === '' ? await listed(visit, status) : await found(visit, text, status);
    return { title: 'Payments', content: html`${ownSearchForm(text, status)} ${content}` };
  }),
  ownPage(context, `${MERCHANT_HOME}/:payment_id`, async (visit) => {
    const { services, viewer } = visit;
    const params = { ...paramsOf(viewer).params, payment_id: paymentIdIn(visit.request) };
    const payment = await services.call(ReadOwnPayment, { params });
    const events = await partOf(eventsOf(visit, params.payment_id));
    return {
      title: `Payment ${payment.reference}`,
      content: html`${ownPaymentPage(payment)} ${show(events, (known) => ownStoryPart(payment, known))}`,
    };
  }),
];

const textOf = ({ request }: OwnVisit, name: string): string => (request.query.get(name) ?? '').trim();

async function listed({ request, services, viewer }: OwnVisit, status: string) {
  const cursor = request.query.get('cursor') ?? undefined;
  const query = { limit: SHOWN, cursor, status: status || undefined };
  const { payments, next_cursor: next } = await services.call(ListPayments, { ...paramsOf(viewer), query });
  const older = next === null ? null : new URLSearchParams({ ...(status !== '' && { status }), cursor: next });
  return ownPaymentsTable('Newest first', payments, older && `${MERCHANT_HOME}?${older.toString()}`);
}

/** By whatever names it; of a transaction also where its money is. */
async function found(visit: OwnVisit, text: string, status: string) {
  const { services, viewer } = visit;
  const ways = paymentQueryOf(text) ?? {};
  const transactionId = parseTransactionId(text);
  const params = paramsOf(viewer);
  const [lists, where] = await Promise.all([
    Promise.all(Object.entries(ways).map(([way, value]) => foundBy(visit, way, value, status))),
    transactionId === null
      ? null
      : partOf(services.call(FindMerchantTransfers, { ...params, query: { transaction_id: transactionId } })),
  ]);
  // Two ways may lead to one payment.
  const payments = new Map(lists.flat().map((payment) => [payment.payment_id, payment]));
  return html`${ownPaymentsTable('Payments found', [...payments.values()], null)}
  ${where === null ? [] : show(where, whereTable)}`;
}

const filters = ['order_id', 'reference', 'transaction_id', 'merchant_wallet'];

async function foundBy({ services, viewer }: OwnVisit, way: string, value: string, status: string) {
  if (way === 'payment_id') return ownPayment({ services, viewer }, value);
  if (!filters.includes(way)) return [];
  const query = { [way]: value, limit: SHOWN, status: status || undefined };
  return (await services.call(ListPayments, { ...paramsOf(viewer), query })).payments;
}

async function ownPayment({ services, viewer }: Pick<OwnVisit, 'services' | 'viewer'>, id: string): Promise<Payment[]> {
  try {
    return [await services.call(ReadOwnPayment, { params: { ...paramsOf(viewer).params, payment_id: id } })];
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return [];
    throw error;
  }
}

async function eventsOf({ services, viewer }: OwnVisit, paymentId: string) {
  const { merchant_id: merchantId } = viewer;
  const params = { merchant_id: merchantId, payment_id: paymentId };
  const { deliveries } = await services.call(ListDeliveries, { params });
  const shown = deliveries
    .slice(0, EVENTS_SHOWN)
    .map(({ event_id: id }) => ({ merchant_id: merchantId, event_id: id }));
  return Promise.all(shown.map((event) => services.call(ReadOwnEvent, { params: event })));
}

/** @throws HttpError 404, as for a payment that is not there. */
function paymentIdIn({ params }: OwnVisit['request']): string {
  const id = pathParameter(params, 'payment_id');
  if (!isId('pay', id)) throw new HttpError(404, 'Payment not found');
  return id;
}
