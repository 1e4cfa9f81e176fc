import { html, type Html } from '@quittance/checkout-page/html.ts';
import { parseAddress } from '@quittance/contracts/address.ts';
import { ReadWallet } from '@quittance/contracts/http/payments/wallets.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { address } from '@quittance/operator/field.ts';
import { rowOf } from '@quittance/operator/table.ts';
import { walletView } from '@quittance/operator/wallets.ts';
import { actionRoutes } from './action.ts';
import { actionList } from './actions.ts';
import { link } from './cell.ts';
import { filterForm, searchField } from './filter.ts';
import { inPath, pageRoute, type Context, type Visit } from './page-route.ts';
import { render } from './view.ts';

/** Whose a wallet is. No list has them all: a wallet is found by its address. */
export const walletRoutes = (context: Context): Route[] => [
  pageRoute(context, '/wallets', async (visit) => {
    const text = (visit.request.query.get('address') ?? '').trim();
    const asked = parseAddress(text)?.address ?? null;
    const form = filterForm('/wallets', [searchField('address', 'Address of a wallet', text, true)]);
    const problem =
      text === '' ? [] : html`<p class="problem" role="alert">This is no address of an EVM or Tron wallet.</p>`;
    return { title: 'Wallets', content: html`${form} ${asked === null ? problem : await walletPart(visit, asked)}` };
  }),
  pageRoute(context, '/wallets/:address', async (visit) => {
    const asked = inPath(visit.request, 'address', address, 'Wallet not found');
    return { title: `Wallet ${asked}`, content: await walletPart(visit, asked) };
  }),
  ...actionRoutes(context, rowOf('wallet release')),
];

async function walletPart({ services, viewer }: Visit, asked: string): Promise<Html> {
  const wallet = await services.call(ReadWallet, { params: { address: asked } });
  return html`${wallet.merchant_id === null ? [] : actionList(['wallet release'], { address: wallet.address }, viewer)}
    ${render(walletView(wallet), viewer)}
    <p>${link(`/payments?q=${wallet.address}`, 'Payments on this wallet')}</p>`;
}
