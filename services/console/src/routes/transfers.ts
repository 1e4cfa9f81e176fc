import { FindPayments, paymentQueryOf } from '@quittance/contracts/http/payments/finding.ts';
import { LocateTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { ListUnmatched, ListUnmatchedOfMerchant } from '@quittance/contracts/http/payments/unmatched.ts';
import { parseTransactionId } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { transfersOnChain } from '../pages/on-chain.ts';
import { choicePage, unmatchedTable, type ChoiceTransfer } from '../pages/transfers.ts';
import type { Services } from '../upstream/services.ts';
import { merchantIdIn } from './merchants.ts';
import { pageRoute, type Context, type Visit } from './page-route.ts';

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
  pageRoute(context, '/transfers/:transaction_id/:index/accept', async ({ request, services }) => {
    const transfer = await transferIn(request, services);
    const text = (request.query.get('payment') ?? '').trim();
    const queries = text === '' ? possibleOf(transfer) : [paymentQueryOf(text)];
    const found = await Promise.all(
      queries.map(async (query) => (query === null ? [] : (await services.call(FindPayments, { query })).payments)),
    );
    return { title: 'Accept a transfer', content: choicePage(transfer, { text, payments: found.flat() }) };
  }),
];

/** What finds the payments that a transfer may be for. */
const possibleOf = ({ candidates, merchant_wallet }: ChoiceTransfer) =>
  candidates.length > 0 ? candidates.map((id) => ({ payment_id: id })) : [{ merchant_wallet }];

/** @throws HttpError 404 for one that neither the ledger nor the chain has. */
async function transferIn({ params }: Visit['request'], services: Services): Promise<ChoiceTransfer> {
  const id = parseTransactionId(pathParameter(params, 'transaction_id'));
  const index = pathParameter(params, 'index');
  if (id === null) throw new HttpError(404, 'Transfer not found');
  const { transfers, chain } = await services.call(LocateTransfers, { params: { transaction_id: id } });
  const recorded = transfers.find((one) => String(one.transaction_event_index) === index);
  if (recorded !== undefined) return { ...recorded, recorded };
  const found = transfersOnChain(id, chain).find((one) => String(one.transaction_event_index) === index);
  if (found === undefined) throw new HttpError(404, 'Transfer not found');
  return found;
}
