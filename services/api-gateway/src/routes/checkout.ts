import type { Network } from '@quittance/contracts/networks.ts';
import { pathParameter, route, type Reply, type Route } from '@quittance/http/route.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { notFoundPage, paymentPage, unavailablePage } from '../checkout/page.ts';
import type { PaymentViews } from '../payment-views.ts';

type Dependencies = { views: PaymentViews; networks: readonly Network[]; logger: Logger };

/** Nothing runs or loads but our own two files, nobody frames the page, and no link out of it carries the token along. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
};

/** The hosted checkout page. A person gets a page whatever happens, never JSON. */
export const checkoutRoutes = ({ views, networks, logger }: Dependencies): Route[] => [
  route({
    method: 'GET',
    path: '/pay/:public_token',
    handle: async ({ params }) => {
      try {
        const payment = await views.publicPayment(pathParameter(params, 'public_token'));
        if (payment === null) return page(404, notFoundPage());
        const network = networks.find(({ id }) => id === payment.network);
        return page(200, paymentPage(payment, network?.explorer_transaction_url ?? null));
      } catch (error) {
        logger.warn({ error }, 'the checkout page could not be shown');
        return page(503, unavailablePage(), { 'retry-after': '5' });
      }
    },
  }),
];

const page = (status: number, body: string, headers: Record<string, string> = {}): Reply => ({
  status,
  body,
  headers: { ...pageHeaders, ...headers },
});
