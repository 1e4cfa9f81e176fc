import { route } from '@quittance/http/server/route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queries } from '../queries.ts';
import { merchantIdOf, paymentIdOf } from './params.ts';

/** How the events of one payment are doing. The list is empty for a payment this service knows nothing of, whoever's it is. */
export const deliveriesRoute = (queries: Queries): Route =>
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/payments/:payment_id/deliveries',
    handle: async (request) => {
      const deliveries = await queries.deliveriesOf(merchantIdOf(request), paymentIdOf(request));
      return { status: 200, body: { deliveries } };
    },
  });
