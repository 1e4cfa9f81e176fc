import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { ChainStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { NetworkIncident } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import type { PaymentIncident } from '@quittance/contracts/http/payments/incidents.ts';
import { stateOf } from '../runbooks/for-incidents.ts';
import { addressOf } from '../runbooks/runbooks.ts';
import { badge, link, merchantLink, paymentLink, table, time, type Cell } from './parts.ts';

export const networksTable = (chains: readonly ChainStatus[]): Html => table('Networks', chains, columns);

const columns: Record<string, (chain: ChainStatus) => Cell> = {
  Network: ({ network }) => network,
  State: (chain) => badge(stateOf(chain).state),
  Head: ({ head }) => head,
  Scanned: ({ cursor }) => cursor,
  'Behind, blocks': ({ lag_blocks: blocks }) => blocks,
  'Last block read': ({ cursor_timestamp: at }) => time(at),
  Wallets: ({ watched_wallets: wallets }) => wallets,
  'Used of the day': ({ endpoints }) => budgets(endpoints),
  Problem: problemOf,
};

/** With the way to what is to be done about it. */
function problemOf(chain: ChainStatus): Cell {
  const { place } = stateOf(chain);
  const problem = chain.halt_reason ?? chain.scan_error ?? '';
  return place === null ? null : html`${problem} ${link(addressOf(place), 'Runbook')}`;
}

/** A bar for each provider's plan that has an end. */
function budgets(endpoints: ChainStatus['endpoints']): Cell {
  const bars = endpoints.flatMap(({ endpoint, budget }) => {
    const plan = budget?.units ?? budget?.requests ?? null;
    return plan === null ? [] : [bar(`endpoint ${endpoint}`, plan)];
  });
  return bars.length === 0 ? null : html`${bars}`;
}

const WIDTH = 120;

function bar(name: string, { used, limit }: { used: number; limit: number }): Html {
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  const label = `${name}: ${Math.round(share * 100)} %`;
  return html`<svg role="img" aria-label="${label}" width="${String(WIDTH)}" height="12">
    <title>${label}</title>
    <rect class="room" width="${String(WIDTH)}" height="12" rx="3"></rect>
    <rect class="used" width="${String(Math.round(share * WIDTH))}" height="12" rx="3"></rect>
  </svg>`;
}

export const networkIncidentsTable = (incidents: readonly NetworkIncident[]): Html =>
  table('Open incidents about networks', incidents, {
    Kind: ({ kind, incident_id: id }) => link(`/incidents/network/${id}`, kind.replaceAll('_', ' ')),
    Network: ({ network }) => network,
    Opened: ({ opened_at: at }) => time(at),
    Times: ({ times }) => times,
    'Last seen': ({ last_seen_at: at }) => time(at),
  });

export const paymentIncidentsTable = (incidents: readonly PaymentIncident[]): Html =>
  table('Open incidents about payments', incidents, {
    Kind: ({ kind, incident_id: id }) => link(`/incidents/payment/${id}`, kind.replaceAll('_', ' ')),
    Payment: ({ payment_id: id }) => paymentLink(id),
    Merchant: ({ merchant_id: id }) => merchantLink(id),
    Transaction: ({ transaction_id: id, network }) => `${id} on ${network}`,
    Opened: ({ opened_at: at }) => time(at),
  });
