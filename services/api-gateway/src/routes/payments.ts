import { isId } from '@quittance/contracts/ids.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { PaymentDetails } from '@quittance/contracts/payment.ts';
import { pathParameter, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import type { Admission } from '../admission.ts';
import { merchantRoute, refuseLargeBody } from '../merchant-route.ts';
import { cancelUnavailable, paymentNotFound } from '../answers.ts';
import { passOn, successBody, type OwnerAnswer, type Owners } from '../clients.ts';
import type { PaymentViews } from '../payment-views.ts';
import { rateLimits } from '../rate-limits.ts';
import { readCreation } from '../validation/creation.ts';
import { readListQuery, readPageQuery } from '../validation/list-query.ts';

type Dependencies = { admission: Admission; owners: Owners; views: PaymentViews; networks: readonly Network[] };

/** A merchant's payments. */
export const paymentRoutes = (dependencies: Dependencies): Route[] => [
  ...changes(dependencies),
  ...lists(dependencies),
  ...single(dependencies),
];

const changes = ({ admission, owners, networks }: Dependencies): Route[] => [
  merchantRoute(admission, {
    method: 'POST',
    path: '/api/v1/payments',
    limit: rateLimits.creation,
    read: (request) => readCreation(request, networks),
    handle: async ({ merchantId, input }) =>
      // The Idempotency-Key makes sending it twice as good as once, so a connection that breaks is no reason to give up.
      passOn(
        await owners.payments.request({ method: 'POST', path: paymentsOf(merchantId), json: input, idempotent: true }),
      ),
  }),

  merchantRoute(admission, {
    method: 'POST',
    path: '/api/v1/payments/:payment_id/cancel',
    limit: rateLimits.cancellation,
    read: readPaymentId,
    handle: async ({ merchantId, input: paymentId }) => {
      if (paymentId === null) throw cancelUnavailable();
      const path = `${paymentsOf(merchantId)}/${paymentId}/cancel`;
      const answer = await owners.payments.request({ method: 'POST', path });
      if (answer.status === 409) throw cancelUnavailable();
      return passOn(answer);
    },
  }),
];

const lists = ({ admission, owners }: Dependencies): Route[] => [
  merchantRoute(admission, {
    method: 'GET',
    path: '/api/v1/payments',
    limit: rateLimits.sharedReads,
    read: async (request) => {
      await refuseLargeBody(request);
      return readListQuery(request.query);
    },
    handle: async ({ merchantId, input }) => {
      const answer = await owners.payments.request({ method: 'GET', path: paymentsOf(merchantId), query: input });
      const page = successBody(answer);
      return page === null ? passOn(answer) : { status: 200, body: { payments: page['payments'] } };
    },
  }),

  merchantRoute(admission, {
    method: 'GET',
    path: '/api/v1/payments/page',
    limit: rateLimits.sharedReads,
    read: async (request) => {
      await refuseLargeBody(request);
      return readPageQuery(request.query);
    },
    handle: async ({ merchantId, input }) =>
      passOn(await owners.payments.request({ method: 'GET', path: paymentsOf(merchantId), query: input })),
  }),
];

const single = ({ admission, owners, views }: Dependencies): Route[] => [
  merchantRoute(admission, {
    method: 'GET',
    path: '/api/v1/payments/:payment_id/details',
    limit: rateLimits.sharedReads,
    read: readPaymentId,
    handle: async ({ merchantId, input: paymentId }) => ({
      status: 200,
      body: await readPayment(views, merchantId, paymentId),
    }),
  }),

  merchantRoute(admission, {
    method: 'GET',
    path: '/api/v1/payments/:payment_id/webhooks',
    limit: rateLimits.sharedReads,
    read: readPaymentId,
    handle: async ({ merchantId, input: paymentId }) => {
      if (paymentId === null) throw paymentNotFound();
      // The dispatcher knows payments by their events only: without one, payments says whether it is the merchant's at all.
      // Both are asked at once, so that together they take no longer than one.
      const payment = readPayment(views, merchantId, paymentId);
      // Its failure matters only where the list is empty.
      payment.catch(() => undefined);
      const path = `${paymentsOf(merchantId)}/${paymentId}/deliveries`;
      const answer = await owners.webhooks.request({ method: 'GET', path });
      if (isEmptyList(answer)) await payment;
      if (answer.status === 404) throw paymentNotFound();
      return passOn(answer);
    },
  }),
];

const paymentsOf = (merchantId: string): string => `/internal/v1/merchants/${merchantId}/payments`;

/** @returns null for a text that can be no payment's id; that is answered like an unknown one, and counts like one. */
async function readPaymentId(request: RouteRequest): Promise<string | null> {
  await refuseLargeBody(request);
  const paymentId = pathParameter(request.params, 'payment_id');
  return isId('pay', paymentId) ? paymentId : null;
}

/** @throws HttpError 404 when it is not this merchant's, whether it is another's or nobody's. */
async function readPayment(views: PaymentViews, merchantId: string, paymentId: string | null): Promise<PaymentDetails> {
  const payment = paymentId === null ? null : await views.details(merchantId, paymentId);
  if (payment === null) throw paymentNotFound();
  return payment;
}

function isEmptyList(answer: OwnerAnswer): boolean {
  const deliveries = successBody(answer)?.['deliveries'];
  return Array.isArray(deliveries) && deliveries.length === 0;
}
