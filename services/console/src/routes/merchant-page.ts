import type { Html } from '@quittance/checkout-page/html.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { page, type MerchantViewer } from '../pages/frame.ts';
import { htmlReply, isMerchant, visitRoute, type Context, type Visit } from './page-route.ts';

export type OwnVisit = Visit<MerchantViewer>;

/** A page for a merchant's people. */
export const ownPage = (
  context: Context,
  path: string,
  show: (visit: OwnVisit) => Promise<{ title: string; content: Html }>,
): Route =>
  visitRoute(context, 'GET', path, isMerchant, async (visit) => {
    const { title, content } = await show(visit);
    return htmlReply(200, page(title, visit.viewer, content));
  });

/** The merchant that every one of their calls names. */
export const paramsOf = ({ merchant_id: id }: MerchantViewer) => ({ params: { merchant_id: id } });

/** What a form sends for a field that was left empty is not given. */
export const givenIn = ({ query }: OwnVisit['request']): URLSearchParams =>
  new URLSearchParams([...query].filter(([, value]) => value !== ''));
