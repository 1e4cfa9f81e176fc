import { html } from '@quittance/checkout-page/html.ts';
import { ReadChains } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { NetworkIncidents } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { PaymentIncidents } from '@quittance/contracts/http/payments/incidents.ts';
import { ReadTotals } from '@quittance/contracts/http/payments/totals.ts';
import { ListFailedEvents } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { networksTable } from '../pages/networks.ts';
import { facts, link, show } from '../pages/parts.ts';
import { searchForm } from '../pages/payment-search.ts';
import { totalsPart } from '../pages/totals.ts';
import { partOf } from '../upstream/services.ts';
import { pageRoute, type Context } from './page-route.ts';

/** What needs somebody, what the month came to, and whether every chain is followed. */
export const overviewRoutes = (context: Context): Route[] => [
  pageRoute(context, '/', async ({ services }) => {
    const [totals, chains, lanes, failed, aboutPayments, aboutNetworks] = await Promise.all([
      partOf(services.call(ReadTotals, { query: monthOf(new Date()) })),
      partOf(services.call(ReadChains)),
      partOf(services.call(ListLanes)),
      partOf(services.call(ListFailedEvents, { query: { status: 'failed' } })),
      partOf(services.call(PaymentIncidents.list)),
      partOf(services.call(NetworkIncidents.list)),
    ]);
    const counted = (name: string, path: string) => (count: number) => facts({ [name]: link(path, String(count)) });
    return {
      title: 'Overview',
      content: html`${searchForm('')}
        <div class="counts">
          ${show(failed, ({ total }) => counted('Failed webhook events', '/webhooks')(total))}
          ${show(lanes, ({ total }) => counted('Merchants whose events wait', '/webhooks')(total))}
          ${show(aboutPayments, ({ incidents }) =>
            counted('Open incidents about payments', '/networks')(incidents.length),
          )}
          ${show(aboutNetworks, ({ incidents }) =>
            counted('Open incidents about networks', '/networks')(incidents.length),
          )}
        </div>
        ${show(totals, totalsPart)} ${show(chains, networksTable)}`,
    };
  }),
];

/** From the first of the month to today, in UTC. */
function monthOf(now: Date): { from: string; to: string } {
  const to = now.toISOString().slice(0, 10);
  return { from: `${to.slice(0, 7)}-01`, to };
}
