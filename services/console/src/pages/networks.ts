import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { ChainStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { NetworkIncidents, type NetworkIncident } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { PaymentIncidents, type PaymentIncident } from '@quittance/contracts/http/payments/incidents.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { badge, link, merchantLink, paymentLink, table, time, type Cell } from './parts.ts';

/** Longer than this behind its head, a network is not followed as it should be. */
const BEHIND_SECONDS = 120;

export const networksTable = (chains: readonly ChainStatus[]): Html => table('Networks', chains, columns);

const columns: Record<string, (chain: ChainStatus) => Cell> = {
  Network: ({ network }) => network,
  State: (chain) => badge(stateOf(chain)),
  Head: ({ head }) => head,
  Scanned: ({ cursor }) => cursor,
  'Behind, blocks': ({ lag_blocks: blocks }) => blocks,
  'Last block read': ({ cursor_timestamp: at }) => time(at),
  Wallets: ({ watched_wallets: wallets }) => wallets,
  'Used of the day': ({ endpoints }) => budgets(endpoints),
  Problem: ({ halt_reason: halted, scan_error: error }) => halted ?? error ?? null,
};

function stateOf({ halted_at, asleep, lag_seconds }: ChainStatus): string {
  if (halted_at !== null) return 'halted';
  if (asleep) return 'asleep';
  return (lag_seconds ?? 0) > BEHIND_SECONDS ? 'behind' : 'following';
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

export const networkIncidentsTable = (incidents: readonly NetworkIncident[], viewer: Viewer): Html =>
  table('Open incidents about networks', incidents, {
    Kind: ({ kind }) => kind.replaceAll('_', ' '),
    Network: ({ network }) => network,
    Opened: ({ opened_at: at }) => time(at),
    Times: ({ times }) => times,
    Detail: ({ detail }) => JSON.stringify(detail),
    ...(mayCall(viewer, NetworkIncidents.resolve.access) && {
      'Dealt with': ({ incident_id: id }: NetworkIncident) => link(`/incidents/network/${id}/resolve`, 'Resolve'),
    }),
  });

export const paymentIncidentsTable = (incidents: readonly PaymentIncident[], viewer: Viewer): Html =>
  table('Open incidents about payments', incidents, {
    Kind: ({ kind }) => kind.replaceAll('_', ' '),
    Payment: ({ payment_id: id }) => paymentLink(id),
    Merchant: ({ merchant_id: id }) => merchantLink(id),
    Transaction: ({ transaction_id: id, network }) => `${id} on ${network}`,
    Opened: ({ opened_at: at }) => time(at),
    ...(mayCall(viewer, PaymentIncidents.resolve.access) && {
      'Dealt with': ({ incident_id: id }: PaymentIncident) => link(`/incidents/payment/${id}/resolve`, 'Resolve'),
    }),
  });
