import { pathParameter, route, type Route } from '@quittance/http/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { assertWithin, refuseLargeBody } from '../admission.ts';
import { paymentNotFound } from '../answers.ts';
import { passOn, type Owners } from '../clients.ts';
import { askPublicPayment, publicTokenHash } from '../public-payments.ts';
import { rateLimits } from '../rate-limits.ts';
import { takeCount } from '../store/admission.ts';

/**
 * The minimal status of one payment for whoever holds its public token; every viewer of one token shares its counter.
 * Comes after /payments/page in the list of routes, which its pattern matches too.
 */
export const publicStatusRoutes = ({ db, owners }: { db: Queryable; owners: Owners }): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/payments/:public_token',
    handle: async (request) => {
      await refuseLargeBody(request);
      const token = pathParameter(request.params, 'public_token');
      assertWithin(rateLimits.publicStatus, await takeCount(db, publicTokenHash(token), rateLimits.publicStatus));
      const answer = await askPublicPayment(owners, token);
      if (answer === null || answer.status === 404) throw paymentNotFound();
      return passOn(answer);
    },
  }),
];
