import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ReadChains, type ChainStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { badge, table, type Value } from '@quittance/operator/view.ts';
import { link } from './cell.ts';
import type { Viewer } from './frame.ts';
import { pageRoute, type Context } from './page-route.ts';
import { addressOf, stateOf } from './runbooks.ts';
import { partOf } from './services.ts';
import { render, show } from './view.ts';

export const networkRoutes = (context: Context): Route[] => [
  pageRoute(context, '/networks', async ({ services, viewer }) => {
    const chains = await partOf(services.call(ReadChains));
    return {
      title: 'Networks',
      content: html`<p>${link('/runbooks', 'Runbooks')}: what to do, alert by alert.</p>
        ${show(chains, (known) => networksPart(known, viewer))}`,
    };
  }),
];

/** Networks side by side, each problem with the way to what is to be done about it. */
export const networksPart = (chains: readonly ChainStatus[], viewer: Viewer): Html =>
  render(
    [
      table('networks', chains, {
        network: 'network',
        state: (chain) => badge(stateOf(chain).state),
        head: 'head',
        scanned: 'cursor',
        'behind, blocks': 'lag_blocks',
        'last block read': 'cursor_timestamp',
        wallets: 'watched_wallets',
        'used of the day': ({ endpoints }) => endpoints.flatMap(budgetOf),
        problem: problemOf,
      }),
    ],
    viewer,
  );

function problemOf(chain: ChainStatus): Value {
  const { place } = stateOf(chain);
  const problem = chain.halt_reason ?? chain.scan_error ?? '';
  return place === null ? null : [problem, ' ', { to: addressOf(place), label: 'Runbook' }];
}

/** How much of a provider's plan that has an end is used. */
function budgetOf({ endpoint, budget }: ChainStatus['endpoints'][number]): Value[] {
  const plan = budget?.units ?? budget?.requests ?? null;
  return plan === null ? [] : [{ label: `endpoint ${endpoint}`, ...plan }];
}
