import { parseAddress } from '@quittance/contracts/address.ts';
import { html } from '@quittance/checkout-page/html.ts';
import { ReadWallet, ReleaseWallet } from '@quittance/contracts/http/payments/wallets.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { confirmation, REASON_MAX } from '../pages/confirmation.ts';
import { walletPage } from '../pages/wallet.ts';
import { textIn } from '../session/form.ts';
import { actionRoute, pageRoute, type Context, type Visit } from './page-route.ts';

/** Whose a wallet is, since when, and taking it away. */
export const walletRoutes = (context: Context): Route[] => [
  pageRoute(context, '/wallets/:address', async ({ request, services, viewer }) => {
    const wallet = await services.call(ReadWallet, { params: { address: addressIn(request) } });
    return { title: `Wallet ${wallet.address}`, content: walletPage(wallet, viewer) };
  }),
  pageRoute(context, '/wallets/:address/release', async ({ request, services, viewer }) => {
    const { address, merchant_id: owner } = await services.call(ReadWallet, {
      params: { address: addressIn(request) },
    });
    return {
      title: 'Release a wallet',
      content: confirmation(viewer, {
        question: html`Forget that <strong>${address}</strong> is a wallet of ${owner ?? 'nobody'}? The next merchant to
          use it gets it. Payments that wait on it go on.`,
        action: `/wallets/${address}/release`,
        label: 'Release',
        back: `/wallets/${address}`,
      }),
    };
  }),
  actionRoute(context, '/wallets/:address/release', async ({ request, services, viewer }, form) => {
    const address = addressIn(request);
    const author = { actor: viewer.name, reason: textIn(form, 'reason', REASON_MAX) };
    await services.call(ReleaseWallet, { params: { address }, author });
    return `/wallets/${address}`;
  }),
];

/** @throws HttpError 404 for a text that is no address. */
function addressIn({ params }: Visit['request']): string {
  const parsed = parseAddress(pathParameter(params, 'address'));
  if (parsed === null) throw new HttpError(404, 'Wallet not found');
  return parsed.address;
}
