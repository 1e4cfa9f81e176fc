import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import type { Admission } from '../admission/admission.ts';
import { assertBelowLimit } from '../admission/merchant-route.ts';
import { refuseLargeBody } from '../validation/body-limit.ts';
import { paymentNotFound } from '../responses/errors.ts';
import { publicTokenHash, type PaymentViews } from '../upstream/payment-views.ts';
import { rateLimits } from '../admission/rate-limits.ts';

type Dependencies = { admission: Admission; views: PaymentViews };

/**
 * The minimal status of one payment by its public token; all viewers of one token share its counter.
 * Comes after /payments/page in the list of routes, which its pattern matches too.
 */
export const publicStatusRoutes = ({ admission, views }: Dependencies): Route[] => [
  {
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
  },
];
