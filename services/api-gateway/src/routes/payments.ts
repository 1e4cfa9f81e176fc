import { isId } from '@quittance/contracts/ids.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { pathParameter, type Reply, type Route, type RouteRequest } from '@quittance/http/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { merchantRoute, refuseLargeBody } from '../admission.ts';
import { paymentNotFound } from '../answers.ts';
import { passOn, successBody, type OwnerAnswer, type Owners } from '../clients.ts';
import { rateLimits } from '../rate-limits.ts';
import { readCreation } from '../validation/creation.ts';
import { readListQuery, readPageQuery } from '../validation/list-query.ts';

type Dependencies = { db: Queryable; owners: Owners; networks: readonly Network[] };

/** A merchant's payments. */
export const paymentRoutes = (dependencies: Dependencies): Route[] => [
  ...changes(dependencies),
  ...lists(dependencies),
  ...views(dependencies),
];

const changes = ({ db, owners, networks }: Dependencies): Route[] => [
  merchantRoute(db, {
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

  merchantRoute(db, {
    method: 'POST',
    path: '/api/v1/payments/:payment_id/cancel',
    limit: rateLimits.cancellation,
    read: readPaymentId,
    handle: async ({ merchantId, input: paymentId }) => {
      if (paymentId === null) throw paymentNotFound();
      const path = `${paymentsOf(merchantId)}/${paymentId}/cancel`;
      return passOnPayment(await owners.payments.request({ method: 'POST', path }));
    },
  }),
];

const lists = ({ db, owners }: Dependencies): Route[] => [
  merchantRoute(db, {
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

  merchantRoute(db, {
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

const views = ({ db, owners }: Dependencies): Route[] => [
  merchantRoute(db, {
    method: 'GET',
    path: '/api/v1/payments/:payment_id/details',
    limit: rateLimits.sharedReads,
    read: readPaymentId,
    handle: async ({ merchantId, input: paymentId }) => passOnPayment(await readPayment(owners, merchantId, paymentId)),
  }),

  merchantRoute(db, {
    method: 'GET',
    path: '/api/v1/payments/:payment_id/webhooks',
    limit: rateLimits.sharedReads,
    read: readPaymentId,
    handle: async ({ merchantId, input: paymentId }) => {
      if (paymentId === null) throw paymentNotFound();
      const path = `${paymentsOf(merchantId)}/${paymentId}/deliveries`;
      const answer = await owners.webhooks.request({ method: 'GET', path });
      if (!isEmptyList(answer)) return passOnPayment(answer);
      // The dispatcher knows payments by their events only: without one, payments says whether it is the merchant's at all.
      const payment = await readPayment(owners, merchantId, paymentId);
      return payment.status === 200 ? passOn(answer) : passOnPayment(payment);
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

function readPayment(owners: Owners, merchantId: string, paymentId: string | null): Promise<OwnerAnswer> {
  if (paymentId === null) throw paymentNotFound();
  return owners.payments.request({ method: 'GET', path: `${paymentsOf(merchantId)}/${paymentId}` });
}

/** Every 404 about a payment has the same bytes, whoever noticed that there is none. */
function passOnPayment(answer: OwnerAnswer): Reply {
  if (answer.status === 404) throw paymentNotFound();
  return passOn(answer);
}

function isEmptyList(answer: OwnerAnswer): boolean {
  const deliveries = successBody(answer)?.['deliveries'];
  return Array.isArray(deliveries) && deliveries.length === 0;
}
