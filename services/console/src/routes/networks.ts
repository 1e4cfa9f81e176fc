import { html } from '@quittance/checkout-page/html.ts';
import { ReadChains } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { NetworkIncidents } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { PaymentIncidents } from '@quittance/contracts/http/payments/incidents.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { networksTable, networkIncidentsTable, paymentIncidentsTable } from '../pages/networks.ts';
import { link, show } from '../pages/parts.ts';
import { partOf } from '../upstream/services.ts';
import { pageRoute, type Context } from './page-route.ts';

export const networkRoutes = (context: Context): Route[] => [
  pageRoute(context, '/networks', async ({ services }) => {
    const [chains, aboutNetworks, aboutPayments] = await Promise.all([
      partOf(services.call(ReadChains)),
      partOf(services.call(NetworkIncidents.list)),
      partOf(services.call(PaymentIncidents.list)),
    ]);
    return {
      title: 'Networks',
      content: html`<p>${link('/runbooks', 'Runbooks')}: what to do, alert by alert.</p>
        ${show(chains, networksTable)} ${show(aboutNetworks, ({ incidents }) => networkIncidentsTable(incidents))}
        ${show(aboutPayments, ({ incidents }) => paymentIncidentsTable(incidents))}`,
    };
  }),
];
