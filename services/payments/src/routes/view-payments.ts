import { ReadOwnPayment, ReadPaymentDetails, ReadPublicPayments } from '@quittance/contracts/http/payments/payments.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { ProgressSources } from '../views/confirmations.ts';
import type { ReadWarnings } from '../views/warnings.ts';
import { readDetails, readPublicPayments } from '../views/payment-details.ts';

type Dependencies = {
  db: Queryable;
  publicBaseUrl: string;
  progress: ProgressSources;
  readWarnings: ReadWarnings;
};

/** Single payments, many in one call: in detail for their merchants, and as their public tokens and checkout pages show them. */
export const paymentViewsRoutes = ({ publicBaseUrl, progress, ...rest }: Dependencies): Route[] => [
  callRoute(ReadPaymentDetails, async ({ body }) => ({
    found: await readDetails({ ...rest, ...progress }, body.payments, publicBaseUrl),
  })),
  callRoute(ReadOwnPayment, async ({ params }) => {
    const [found] = await readDetails({ ...rest, ...progress }, [params], publicBaseUrl);
    if (found === undefined) throw new HttpError(404, 'Payment not found');
    return found.payment;
  }),
  callRoute(ReadPublicPayments, async ({ body }) => ({
    found: await readPublicPayments({ ...rest, ...progress }, body.tokens_sha256),
  })),
];
