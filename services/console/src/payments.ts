import { html, type Html } from '@quittance/checkout-page/html.ts';
import {
  AcceptTransfer,
  ReadAcceptanceCandidate,
  type AcceptanceCandidate,
} from '@quittance/contracts/http/payments/acceptance.ts';
import { FindPayments, paymentQueryOf } from '@quittance/contracts/http/payments/finding.ts';
import { LocateTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { ListAllPayments, ReadPayment } from '@quittance/contracts/http/payments/payments.ts';
import { ListDeliveries, ReadEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { parseTransactionId } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Reply, Route } from '@quittance/http/server/route.ts';
import { count, paymentId, Wrong } from '@quittance/operator/field.ts';
import { foundTable, listedTable, merchantsOf, paymentView } from '@quittance/operator/payments.ts';
import { rowOf } from '@quittance/operator/table.ts';
import { acceptOneQuestion, acceptTransfer, howManyText, locatedView } from '@quittance/operator/transfers.ts';
import { actionRoutes, authorIn, confirmation } from './action.ts';
import { actionList } from './actions.ts';
import { filterForm, searchField } from './filter.ts';
import { page, type Viewer } from './frame.ts';
import {
  actionRoute,
  htmlReply,
  inPath,
  isOperator,
  pageRoute,
  visitRoute,
  type Context,
  type Visit,
} from './page-route.ts';
import { filtersIn, goOn, input, listForm, queryOf } from './payment-list.ts';
import { askForProof, proofFile, proofPart } from './proof.ts';
import { partOf, type Services } from './services.ts';
import { paymentStory, warningsPart } from './story.ts';
import { candidatePayments } from './transfers.ts';
import { capital, hero, render, show } from './view.ts';

/** Of a payment's events, the attempts of so many are shown: PAID comes first. */
const EVENTS_SHOWN = 5;
const ACCEPT = '/payments/:payment_id/accept';

export const paymentRoutes = (context: Context): Route[] => [
  pageRoute(context, '/payments', async ({ request, services, viewer }) => {
    const [text, sought] = ['q', 'merchant'].map((name) => (request.query.get(name) ?? '').trim()) as [string, string];
    const filters = filtersIn(request);
    const merchant = input('merchant', 'Merchant', sought, 'text');
    return {
      title: 'Payments',
      content: html`${listForm('/payments', text, filters, [merchant])}
      ${text === '' ? [] : await found(services, viewer, text)}
      ${await listed({ services, viewer }, text, sought, filters)}`,
    };
  }),
  pageRoute(context, '/payments/:payment_id', async ({ request, services, viewer }) => {
    const id = paymentIdIn(request);
    const payment = await services.call(ReadPayment, { params: { payment_id: id } });
    const [events, proof] = await Promise.all([
      partOf(eventsOf(services, payment.merchant_id, id)),
      askForProof(services, payment),
    ]);
    return {
      title: `Payment ${id}`,
      content: html`${hero(payment.amount, payment.currency, payment.status, viewer)}
      ${payment.status === 'PENDING' ? actionList(['payment cancel'], { payment_id: id }, viewer) : []}
      ${warningsPart(payment.warnings)} ${render(paymentView(payment), viewer)} ${proofPart(proof, `/payments/${id}`)}
      ${show(events, () => html``)} ${paymentStory(payment, 'silent' in events ? [] : events.value, viewer)}`,
    };
  }),
  visitRoute(context, 'GET', '/payments/:payment_id/proof', isOperator, async ({ request, services }) => {
    const { merchant_id, payment_id } = await services.call(ReadPayment, {
      params: { payment_id: paymentIdIn(request) },
    });
    return proofFile(services, { merchant_id, payment_id });
  }),
  ...actionRoutes(context, rowOf('payment cancel')),
  pageRoute(context, ACCEPT, async (visit) => ({
    title: 'Accept a transfer',
    content: await acceptForm(visit, await candidateIn(visit)),
  })),
  actionRoute(context, ACCEPT, async (visit, form) => {
    const { payment_id, ...transfer } = transferIn(visit.request);
    const author = authorIn(visit, form);
    const seen = form.get('confirm_candidates') ?? '';
    const confirmed = /^\d{1,10}$/.test(seen) ? count(seen) : null;
    const body = { ...transfer, ...(confirmed !== null && { confirm_candidates: confirmed }) };
    try {
      await visit.services.call(AcceptTransfer, { params: { payment_id }, body, author });
    } catch (error) {
      const again = await acceptAgain(visit, confirmed, error);
      if (again === null) throw error;
      return again;
    }
    return `/payments/${payment_id}`;
  }),
];

/** By texts and filters. What names a payment exactly, `found` finds however old it is. */
async function listed(
  { services, viewer }: Pick<Visit, 'services' | 'viewer'>,
  text: string,
  sought: string,
  filters: ReturnType<typeof filtersIn>,
): Promise<Html> {
  try {
    const merchants = sought === '' ? undefined : await merchantsOf(services, sought);
    const query = { ...queryOf(filters), merchants, text: text || undefined };
    const page = await services.call(ListAllPayments, { query });
    const given = { ...filters, ...(text !== '' && { q: text }), ...(sought !== '' && { merchant: sought }) };
    return html`${render([listedTable(page.payments, 'newest first')], viewer)} ${goOn('/payments', given, page)}`;
  } catch (error) {
    return problemOf(error);
  }
}

/** What is wrong with a filter, above nothing. */
export function problemOf(error: unknown): Html {
  if (!(error instanceof Wrong) && !(error instanceof HttpError && error.status === 422)) throw error;
  return html`<p class="problem" role="alert">${capital(error.message)}</p>`;
}

export const searchForm = (text: string): Html =>
  filterForm('/payments', [
    searchField('q', 'Payment id, checkout link, order id, reference, transaction id or wallet', text, true),
  ]);

/** If several payments are possible, the person sees them, and confirms this one and how many were shown. */
async function acceptForm({ viewer, request, services }: Visit, candidate: AcceptanceCandidate): Promise<Html> {
  const { payment_id: id, candidates } = candidate;
  const question = acceptOneQuestion(candidate);
  if (candidates.length <= 1) return confirmation(viewer, acceptTransfer, request, html`${question}`, []);
  const payments = await candidatePayments(services, candidates);
  const total = String(candidates.length);
  const seen = html`<label class="check">
    <input type="checkbox" name="confirm_candidates" value="${total}" required />
    I know of these ${total} payments, and the transfer is for ${id}.
  </label>`;
  return html`<p class="notice">${howManyText(candidate.amount, payments)}.</p>
    ${render([foundTable(payments, 'payments that it may be for')], viewer)}
    ${confirmation(viewer, acceptTransfer, request, html`${question}`, [seen])}`;
}

function candidateIn({ request, services }: Visit): Promise<AcceptanceCandidate> {
  const { transaction_event_index: index, ...ids } = transferIn(request);
  return services.call(ReadAcceptanceCandidate, { params: { ...ids, transaction_event_index: String(index) } });
}

/**
 * Asks again when the transfer may be for payments that the page did not show: it may be in the ledger only since then.
 * @returns null when it was refused for another reason.
 */
async function acceptAgain(visit: Visit, confirmed: number | null, error: unknown): Promise<Reply | null> {
  if (!(error instanceof HttpError) || error.status !== 409) return null;
  const candidate = await candidateIn(visit);
  if (candidate.candidates.length === (confirmed ?? Math.min(candidate.candidates.length, 1))) return null;
  const problem = html`<p class="problem" role="alert">Look again: the payments that it may be for have changed.</p>`;
  return htmlReply(
    409,
    page('Accept a transfer', visit.viewer, html`${problem} ${await acceptForm(visit, candidate)}`),
  );
}

/** By whatever names it; of a transaction also where its money is. */
async function found(services: Services, viewer: Viewer, text: string) {
  const query = paymentQueryOf(text);
  if (query === null)
    return html`<p class="problem" role="alert">Nothing that a payment is found by looks like this.</p>`;
  const transactionId = parseTransactionId(text);
  const [payments, located] = await Promise.all([
    services.call(FindPayments, { query }),
    transactionId === null
      ? null
      : partOf(services.call(LocateTransfers, { params: { transaction_id: transactionId } })),
  ]);
  return html`${render([foundTable(payments.payments, 'payments found')], viewer)}
  ${located === null ? [] : show(located, (known) => render(locatedView(known), viewer))}`;
}

async function eventsOf(services: Services, merchantId: string, payment_id: string) {
  const params = { merchant_id: merchantId, payment_id };
  const { deliveries } = await services.call(ListDeliveries, { params });
  return Promise.all(
    deliveries.slice(0, EVENTS_SHOWN).map(({ event_id: id }) => services.call(ReadEvent, { params: { event_id: id } })),
  );
}

const paymentIdIn = (request: Visit['request']): string =>
  inPath(request, 'payment_id', paymentId, 'Payment not found');

/** @throws HttpError 404. */
function transferIn(request: Visit['request']) {
  const transactionId = parseTransactionId(request.query.get('transaction_id') ?? '');
  const index = request.query.get('index') ?? '';
  if (transactionId === null || !/^\d{1,9}$/.test(index)) throw new HttpError(404, 'Transfer not found');
  return {
    payment_id: paymentIdIn(request),
    transaction_id: transactionId,
    transaction_event_index: Number(index),
  };
}
