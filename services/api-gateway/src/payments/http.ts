import { AcceptTransferAsMerchant } from '@quittance/contracts/http/payments/acceptance.ts';
import { ExportPayments } from '@quittance/contracts/http/payments/finding.ts';
import { FindMerchantTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import {
  CancelPayment,
  ListPayments,
  NO_RATE_STATUS,
  ReadPaymentProof,
} from '@quittance/contracts/http/payments/payments.ts';
import { ReadRates } from '@quittance/contracts/http/payments/rates.ts';
import { ReadReport } from '@quittance/contracts/http/payments/reports.ts';
import { ListDeliveries } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { isId } from '@quittance/contracts/ids.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { PaymentDetails } from '@quittance/contracts/api/payment.ts';
import type { StreamResponse } from '@quittance/http/client/stream.ts';
import { conflict, HttpError, rateUnavailable, unavailable } from '@quittance/http/errors.ts';
import { pathParameter, type Reply, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import { systemClock } from '@quittance/runtime/time.ts';
import { rateLimits, type Admission } from '../limits/admission.ts';
import { assertBelowLimit, merchantChange, merchantRead, rateLimited } from '../limits/merchant-route.ts';
import { bodiless, refuseLargeBody } from '../request-body.ts';
import { forward, successBody, type Upstreams } from '../upstreams.ts';
import { readCreation, type CreationRules } from './creation.ts';
import type { CreateUpstream } from './creations.ts';
import { listQueries, readExportQuery, readReportQuery } from './list-query.ts';
import { readAcceptedTransfer, readTransactionQuery } from './transfer.ts';
import { publicTokenHash, type PaymentViews } from './views.ts';

/** The same for another merchant's payment, so that the bytes do not show whether it exists. */
const paymentNotFound = (): HttpError => new HttpError(404, 'Payment not found');

/** The same for a payment in another status, another merchant's payment, an unknown id and a malformed one. */
const notCancellable = (): HttpError => conflict('cancel_unavailable', 'This payment cannot be cancelled');

type Dependencies = { admission: Admission; upstreams: Upstreams };

/** Creates and cancels payments. */
export const changeRoutes = ({
  admission,
  upstreams,
  createUpstream,
  creationRules,
}: Dependencies & { createUpstream: CreateUpstream; creationRules: CreationRules }): Route[] => [
  merchantChange(admission, 'POST /api/v1/payments', {
    right: 'orders',
    action: 'create_payment',
    limit: rateLimits.creation,
    read: (request) => readCreation(request, creationRules),
    handle: async ({ merchant, input }) => {
      const answer = await createUpstream(merchant.merchant_id, input);
      if (answer.status === NO_RATE_STATUS) throw rateUnavailable();
      return forward(answer);
    },
  }),

  merchantChange(admission, 'POST /api/v1/payments/:payment_id/cancel', {
    right: 'orders',
    action: 'cancel_payment',
    limit: rateLimits.cancellation,
    read: bodiless<string | null>(readPaymentId),
    handle: async ({ merchant, input: paymentId }) => {
      if (paymentId === null) throw notCancellable();
      const answer = await upstreams.payments.send(CancelPayment, { params: { ...merchant, payment_id: paymentId } });
      if (answer.status === 409) throw notCancellable();
      return forward(answer);
    },
  }),
];

/** The rates that convert prices now. */
export const ratesRoute = ({ admission, upstreams }: Dependencies): Route =>
  merchantRead(admission, '/api/v1/rates', {
    limit: rateLimits.sharedReads,
    read: refuseLargeBody,
    handle: async () => forward(await upstreams.payments.send(ReadRates)),
  });

/** One payment for its merchant: in detail, what proves it, and its webhooks. */
export const paymentRoutes = ({ admission, upstreams, views }: Dependencies & { views: PaymentViews }): Route[] => [
  merchantRead(admission, '/api/v1/payments/:payment_id/details', {
    limit: rateLimits.sharedReads,
    read: bodiless<string | null>(readPaymentId),
    handle: async ({ merchant, input: paymentId }) => ({
      status: 200,
      body: await readPayment(views, merchant.merchant_id, paymentId),
    }),
  }),

  merchantRead(admission, '/api/v1/payments/:payment_id/proof', {
    limit: rateLimits.sharedReads,
    read: bodiless<string | null>(readPaymentId),
    handle: async ({ merchant, input: paymentId }) => {
      if (paymentId === null) throw paymentNotFound();
      const params = { ...merchant, payment_id: paymentId };
      const answer = await upstreams.payments.send(ReadPaymentProof, { params });
      if (answer.status === 404) throw paymentNotFound();
      return forward(answer);
    },
  }),

  merchantRead(admission, '/api/v1/payments/:payment_id/webhooks', {
    limit: rateLimits.sharedReads,
    read: bodiless<string | null>(readPaymentId),
    handle: async ({ merchant, input: paymentId }) => {
      if (paymentId === null) throw paymentNotFound();
      // An empty list may be of an unknown payment, so payments is asked at the same time.
      const payment = readPayment(views, merchant.merchant_id, paymentId);
      // A failure only matters if the list is empty.
      payment.catch(() => undefined);
      const answer = await upstreams.webhooks.send(ListDeliveries, { params: { ...merchant, payment_id: paymentId } });
      if (successBody(ListDeliveries, answer)?.deliveries.length === 0) await payment;
      if (answer.status === 404) throw paymentNotFound();
      return forward(answer);
    },
  }),
];

/** The payment id of the path. @returns null for a malformed id, which is answered and counted like an unknown one. */
function readPaymentId({ params }: RouteRequest): string | null {
  const paymentId = pathParameter(params, 'payment_id');
  return isId('pay', paymentId) ? paymentId : null;
}

/** @throws HttpError 404 for another merchant's payment too. */
async function readPayment(views: PaymentViews, merchantId: string, paymentId: string | null): Promise<PaymentDetails> {
  const payment = paymentId === null ? null : await views.details(merchantId, paymentId);
  if (payment === null) throw paymentNotFound();
  return payment;
}

/** The status of one payment by its public token. All viewers of one token share its rate limit. */
export const publicStatusRoute = ({ admission, views }: { admission: Admission; views: PaymentViews }): Route => ({
  method: 'GET',
  path: '/api/v1/payments/:public_token',
  handle: async (request) => {
    await refuseLargeBody(request);
    const token = pathParameter(request.params, 'public_token');
    assertBelowLimit(rateLimits.publicStatus, await admission.count(publicTokenHash(token), rateLimits.publicStatus));
    const payment = await views.publicPayment(token);
    if (payment === null) throw paymentNotFound();
    return { status: 200, body: payment };
  },
});

/** Counting a million payments takes longer than other requests may. */
const REPORT_TIMEOUT_MS = 8_500;

/** Lists, the export and the report of a merchant's payments. All count as shared reads. */
export function findingRoutes({
  admission,
  upstreams,
  networks,
}: Dependencies & { networks: readonly Network[] }): Route[] {
  const queries = listQueries(networks);
  const reading = <Query>(read: (query: URLSearchParams) => Query) => ({
    limit: rateLimits.sharedReads,
    read: bodiless((request) => read(request.query)),
  });
  return [
    merchantRead(admission, '/api/v1/payments', {
      ...reading(queries.list),
      handle: async ({ merchant, input }) => {
        const answer = await upstreams.payments.send(ListPayments, { params: merchant, query: input });
        const page = successBody(ListPayments, answer);
        return page === null ? forward(answer) : { status: 200, body: { payments: page.payments } };
      },
    }),

    merchantRead(admission, '/api/v1/payments/page', {
      ...reading(queries.page),
      handle: async ({ merchant, input }) =>
        forward(await upstreams.payments.send(ListPayments, { params: merchant, query: input })),
    }),

    merchantRead(admission, '/api/v1/payments/export', {
      ...reading((query) => readExportQuery(query, systemClock)),
      handle: async ({ merchant, input }) =>
        toExport(await upstreams.payments.stream(ExportPayments, { params: merchant, query: input })),
    }),

    {
      publicTimeoutMs: REPORT_TIMEOUT_MS,
      ...merchantRead(admission, '/api/v1/merchant/report', {
        ...reading(readReportQuery),
        handle: async ({ merchant, input }) =>
          forward(await upstreams.reports.send(ReadReport, { params: merchant, query: input })),
      }),
    },
  ];
}

/** @throws HttpError 429 while another export of this merchant is running. */
function toExport({ status, headers, body }: StreamResponse): Reply {
  if (status === 200) {
    const contentType = headers['content-type'] ?? 'application/octet-stream';
    const extension = contentType.startsWith('text/csv') ? 'csv' : 'ndjson';
    const disposition = `attachment; filename="payments.${extension}"`;
    return { status, headers: { 'content-type': contentType, 'content-disposition': disposition }, body };
  }
  body.destroy();
  if (status !== 429) throw unavailable(new Error(`upstream answered ${status}`));
  throw rateLimited(Number(headers['retry-after'] ?? 1));
}

/** payments reads the transaction from a node, and tries the next one if the first does not answer. */
const ACCEPTANCE_TIMEOUT_MS = 8_000;
/** Every network may have to be searched. One that takes longer is answered as `not_read_yet`. */
const LOOK_UP_TIMEOUT_MS = 6_000;

/** Transfers that do not match a payment: finds them, and accepts one for a payment. */
export const transferRoutes = ({ admission, upstreams: { acceptance } }: Dependencies): Route[] => [
  {
    publicTimeoutMs: ACCEPTANCE_TIMEOUT_MS,
    ...merchantChange(admission, 'POST /api/v1/payments/:payment_id/accept-transfer', {
      right: 'acceptance',
      action: 'accept_transfer',
      limit: rateLimits.cancellation,
      read: async (request) => ({ paymentId: readPaymentId(request), event: await readAcceptedTransfer(request) }),
      handle: async ({ merchant, input: { paymentId, event } }) => {
        if (paymentId === null) throw paymentNotFound();
        const params = { ...merchant, payment_id: paymentId };
        return forward(await acceptance.send(AcceptTransferAsMerchant, { params, body: event }));
      },
    }),
  },

  {
    publicTimeoutMs: LOOK_UP_TIMEOUT_MS,
    ...merchantRead(admission, '/api/v1/merchant/transfers', {
      limit: rateLimits.sharedReads,
      read: bodiless<{ transaction_id: string }>(({ query }) => readTransactionQuery(query)),
      handle: async ({ merchant, input }) =>
        forward(await acceptance.send(FindMerchantTransfers, { params: merchant, query: input })),
    }),
  },
];
