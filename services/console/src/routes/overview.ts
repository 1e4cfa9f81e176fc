import { html } from '@quittance/checkout-page/html.ts';
import { ReadChains } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { NetworkIncidents } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { PaymentIncidents } from '@quittance/contracts/http/payments/incidents.ts';
import { ListFailedEvents } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { networksTable } from '../pages/networks.ts';
import { facts, link, show } from '../pages/parts.ts';
import { searchForm } from '../pages/payment-search.ts';
import { partOf } from '../upstream/services.ts';
import { pageRoute, type Context } from './page-route.ts';

/** What needs somebody, and whether every chain is followed. */
export const overviewRoutes = (context: Context): Route[] => [
  pageRoute(context, '/', async ({ services }) => {
    const [chains, lanes, failed, aboutPayments, aboutNetworks] = await Promise.all([
      partOf(services.call(ReadChains)),
      partOf(services.call(ListLanes)),
      partOf(services.call(ListFailedEvents, { query: { status: 'failed' } })),
      partOf(services.call(PaymentIncidents.list)),
      partOf(services.call(NetworkIncidents.list)),
    ]);
    return {
      title: 'Overview',
      content: html`${searchForm('')}
      ${show(failed, ({ total }) => facts({ 'Failed webhook events': link('/webhooks', String(total)) }))}
      ${show(lanes, ({ total }) => facts({ 'Merchants whose events wait': link('/webhooks', String(total)) }))}
      ${show(aboutPayments, ({ incidents }) =>
        facts({ 'Open incidents about payments': link('/networks', String(incidents.length)) }),
      )}
      ${show(aboutNetworks, ({ incidents }) =>
        facts({ 'Open incidents about networks': link('/networks', String(incidents.length)) }),
      )}
      ${show(chains, networksTable)}`,
    };
  }),
];
