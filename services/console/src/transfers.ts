import { html, type Html } from '@quittance/checkout-page/html.ts';
import { formatUnits } from '@quittance/contracts/amount.ts';
import { FindPayments, paymentQueryOf, type FoundPayment } from '@quittance/contracts/http/payments/finding.ts';
import { LocateTransfers, type LocatedTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import {
  ListUnmatched,
  ListUnmatchedOfMerchant,
  type UnmatchedListed,
  type UnmatchedPage,
} from '@quittance/contracts/http/payments/unmatched.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { merchantId, transactionId } from '@quittance/operator/field.ts';
import { foundTable, isOpenFor } from '@quittance/operator/payments.ts';
import { acceptFor, howManyText, unmatchedView } from '@quittance/operator/transfers.ts';
import { amount, facts, transactionOf, walletOf, words } from '@quittance/operator/view.ts';
import { link } from './cell.ts';
import { filterForm, searchField } from './filter.ts';
import type { AnyViewer, Viewer } from './frame.ts';
import { inPath, pageRoute, type Context, type Visit } from './page-route.ts';
import type { Services } from './services.ts';
import { render } from './view.ts';

/** Money that came and pays nothing: of all merchants, or of one. */
export const transferRoutes = (context: Context): Route[] => [
  pageRoute(context, '/transfers', async ({ request, services, viewer }) => {
    const cursor = request.query.get('cursor') ?? undefined;
    const page = await services.call(ListUnmatched, { query: { cursor } });
    return { title: 'Transfers', content: unmatchedPart(page, '/transfers', viewer) };
  }),
  pageRoute(context, '/merchants/:merchant_id/transfers', async ({ request, services, viewer }) => {
    const id = inPath(request, 'merchant_id', merchantId, 'Merchant not found');
    const cursor = request.query.get('cursor') ?? undefined;
    const page = await services.call(ListUnmatchedOfMerchant, { params: { merchant_id: id }, query: { cursor } });
    return { title: `Transfers to ${id}`, content: unmatchedPart(page, `/merchants/${id}/transfers`, viewer) };
  }),
  pageRoute(context, '/transfers/:transaction_id/:index/accept', async ({ request, services, viewer }) => {
    const transfer = await transferIn(request, services);
    const text = (request.query.get('payment') ?? '').trim();
    const found = text === '' ? possible(services, transfer) : foundBy(services, [paymentQueryOf(text)]);
    return { title: 'Accept a transfer', content: choicePart(transfer, text, await found, viewer) };
  }),
];

/** A merchant's page may have few transfers or none and still have a next one. @param path where the list is. @param own what its merchant's people can do about each. */
export function unmatchedPart(
  page: UnmatchedPage,
  path: string,
  viewer: AnyViewer,
  own: Parameters<typeof unmatchedView>[1] = null,
): Html {
  const { next_cursor: cursor, transfers, looked_through: until } = page;
  const none = transfers.length > 0 ? '' : `None since ${until ?? ''}. `;
  return html`${render(unmatchedView(page, own), viewer)}
  ${cursor === null ? [] : html`<p>${none}${link(`${path}?cursor=${cursor}`, 'Older ones')}</p>`}`;
}

/** A transfer that may be accepted, from the ledger or the chain. */
type ChoiceTransfer = Pick<
  UnmatchedListed,
  'network' | 'transaction_id' | 'transaction_event_index' | 'amount' | 'merchant_wallet' | 'block_timestamp'
> & { candidates: readonly string[] } & {
  /** Null for what the ledger does not have. */
  recorded: { merchant_id: string; reason: string | null } | null;
};

/** The payments that a transfer may be for, or else those on its wallet. */
const possible = (services: Services, { candidates, merchant_wallet }: ChoiceTransfer) =>
  candidates.length > 0 ? candidatePayments(services, candidates) : foundBy(services, [{ merchant_wallet }]);

/** @param ids of at most as many payments as a transfer may be for. */
export const candidatePayments = (services: Services, ids: readonly string[]) =>
  foundBy(
    services,
    ids.map((id) => ({ payment_id: id })),
  );

async function foundBy(services: Services, queries: readonly (Record<string, string> | null)[]) {
  const found = queries.map(async (query) =>
    query === null ? [] : (await services.call(FindPayments, { query })).payments,
  );
  return (await Promise.all(found)).flat();
}

/** @throws HttpError 404 for one that neither the ledger nor the chain has. */
async function transferIn(request: Visit['request'], services: Services): Promise<ChoiceTransfer> {
  const id = inPath(request, 'transaction_id', transactionId, 'Transfer not found');
  const index = pathParameter(request.params, 'index');
  const { transfers, chain } = await services.call(LocateTransfers, { params: { transaction_id: id } });
  const recorded = transfers.find((one) => String(one.transaction_event_index) === index);
  if (recorded !== undefined) return { ...recorded, recorded };
  const found = transfersOnChain(id, chain).find((one) => String(one.transaction_event_index) === index);
  if (found === undefined) throw new HttpError(404, 'Transfer not found');
  return found;
}

/** The transfers of a transaction that the ledger does not have, as the chain shows them: they arrived when nobody watched the wallet. */
export const transfersOnChain = (transaction_id: string, chain: LocatedTransfers['chain']): ChoiceTransfer[] =>
  chain?.outcome !== 'mined'
    ? []
    : chain.transfers.map(({ transaction_event_index, to, amount_units: units, decimals }) => ({
        ...{ network: chain.network, transaction_id, transaction_event_index },
        ...{ merchant_wallet: to, amount: formatUnits(BigInt(units), decimals) },
        ...{ block_timestamp: chain.block_timestamp, candidates: [], recorded: null },
      }));

/** A transfer, and the payments that it may be for, or else those on its wallet. Others can be searched for. */
function choicePart(transfer: ChoiceTransfer, text: string, payments: readonly FoundPayment[], viewer: Viewer): Html {
  const { transaction_id: id, transaction_event_index: index, recorded, candidates } = transfer;
  const title =
    text !== '' ? 'payments found' : candidates.length > 0 ? 'payments that it may be for' : 'payments on this wallet';
  const shown = facts({
    received: amount(transfer.amount),
    'block time': transfer.block_timestamp,
    wallet: [walletOf(transfer), ` on ${transfer.network}`],
    ...(recorded !== null && {
      merchant: recorded.merchant_id,
      reason: recorded.reason === null ? 'no reason against it' : words(recorded.reason),
    }),
    transaction: transactionOf(transfer),
  });
  const table = foundTable(payments, title, (payment) =>
    isOpenFor(payment, transfer) ? acceptFor(transfer, payment.payment_id) : null,
  );
  const several = text === '' && candidates.length > 1;
  return html`${render([shown], viewer)}
  ${several ? html`<p class="notice">${howManyText(transfer.amount, payments)}. Find out whose it is before you accept it for one.</p>` : []}
  ${filterForm(`/transfers/${id}/${String(index)}/accept`, [
    searchField('payment', 'For which payment? Its id, checkout link, order id or reference', text),
  ])}
  ${render([table], viewer)}`;
}
