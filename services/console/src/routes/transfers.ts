import { ListUnmatched, ListUnmatchedOfMerchant } from '@quittance/contracts/http/payments/unmatched.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { unmatchedTable } from '../pages/transfers.ts';
import { merchantIdIn } from './merchants.ts';
import { pageRoute, type Context } from './page-route.ts';

/** Money that came and pays nothing: of all merchants, or of one. */
export const transferRoutes = (context: Context): Route[] => [
  pageRoute(context, '/transfers', async ({ request, services, viewer }) => {
    const cursor = request.query.get('cursor') ?? undefined;
    const page = await services.call(ListUnmatched, { query: { cursor } });
    return { title: 'Transfers', content: unmatchedTable(page, '/transfers', viewer) };
  }),
  pageRoute(context, '/merchants/:merchant_id/transfers', async ({ request, services, viewer }) => {
    const id = merchantIdIn(request);
    const cursor = request.query.get('cursor') ?? undefined;
    const page = await services.call(ListUnmatchedOfMerchant, { params: { merchant_id: id }, query: { cursor } });
    return {
      title: `Transfers to ${id}`,
      content: unmatchedTable(page, `/merchants/${id}/transfers`, viewer),
    };
  }),
];
