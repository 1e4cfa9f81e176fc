import { CancelPayment } from '@quittance/contracts/http/payments/payments.ts';
import { ListDeliveries } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { PaymentDetails } from '@quittance/contracts/api/payment.ts';
import type { ServiceResponse } from '@quittance/http/client/request.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Admission } from '../admission/admission.ts';
import { merchantRoute } from '../admission/merchant-route.ts';
import { bodiless } from '../validation/body-limit.ts';
import { notCancellable, paymentNotFound } from '../responses/errors.ts';
import type { CreateUpstream } from '../upstream/creations.ts';
import { forward, successBody, type Upstreams } from '../upstream/response.ts';
import type { PaymentViews } from '../upstream/payment-views.ts';
import { rateLimits } from '../admission/rate-limits.ts';
import { readCreation, type CreationRules } from '../validation/creation.ts';
import { readPaymentId } from '../validation/payment-id.ts';

type Dependencies = {
  admission: Admission;
  upstreams: Upstreams;
  views: PaymentViews;
  createUpstream: CreateUpstream;
  creationRules: CreationRules;
};

/** A merchant's payments, one at a time. */
export const paymentRoutes = (dependencies: Dependencies): Route[] => [
  ...changes(dependencies),
  ...single(dependencies),
];

const changes = ({ admission, upstreams, createUpstream, creationRules }: Dependencies): Route[] => [
  merchantRoute(admission, 'POST /api/v1/payments', {
    limit: rateLimits.creation,
    read: (request) => readCreation(request, creationRules),
    handle: async ({ merchant, input }) => forward(await createUpstream(merchant.merchant_id, input)),
  }),

  merchantRoute(admission, 'POST /api/v1/payments/:payment_id/cancel', {
    limit: rateLimits.cancellation,
    read: bodiless<string | null>(readPaymentId),
    handle: async ({ merchant, input: paymentId }) => {
      if (paymentId === null) throw notCancellable();
      const params = { ...merchant, payment_id: paymentId };
      const answer = await upstreams.payments.send(CancelPayment, { params });
      if (answer.status === 409) throw notCancellable();
      return forward(answer);
    },
  }),
];

const single = ({ admission, upstreams, views }: Dependencies): Route[] => [
  merchantRoute(admission, 'GET /api/v1/payments/:payment_id/details', {
    limit: rateLimits.sharedReads,
    read: bodiless<string | null>(readPaymentId),
    handle: async ({ merchant, input: paymentId }) => ({
      status: 200,
      body: await readPayment(views, merchant.merchant_id, paymentId),
    }),
  }),

  merchantRoute(admission, 'GET /api/v1/payments/:payment_id/webhooks', {
    limit: rateLimits.sharedReads,
    read: bodiless<string | null>(readPaymentId),
    handle: async ({ merchant, input: paymentId }) => {
      if (paymentId === null) throw paymentNotFound();
      // webhook-dispatcher knows only payments with an event. For an empty list, payments decides whether the payment is this
      // merchant's. Both are asked at the same time.
      const payment = readPayment(views, merchant.merchant_id, paymentId);
      // Its failure matters only where the list is empty.
      payment.catch(() => undefined);
      const params = { ...merchant, payment_id: paymentId };
      const answer = await upstreams.webhooks.send(ListDeliveries, { params });
      if (isEmptyList(answer)) await payment;
      if (answer.status === 404) throw paymentNotFound();
      return forward(answer);
    },
  }),
];

/** @throws HttpError 404 unless the payment is this merchant's, whether it exists or not. */
async function readPayment(views: PaymentViews, merchantId: string, paymentId: string | null): Promise<PaymentDetails> {
  const payment = paymentId === null ? null : await views.details(merchantId, paymentId);
  if (payment === null) throw paymentNotFound();
  return payment;
}

function isEmptyList(response: ServiceResponse): boolean {
  return successBody(ListDeliveries, response)?.deliveries.length === 0;
}
