import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { NetworkIncident } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { PaymentIncidents, type PaymentIncident } from '@quittance/contracts/http/payments/incidents.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { facts, link, merchantLink, paymentLink, time, type Cell } from './parts.ts';

export const networkIncidentFacts = (incident: NetworkIncident): Html =>
  facts({
    Network: incident.network,
    ...openedFacts(incident),
    Times: incident.times,
    'Last seen': time(incident.last_seen_at),
    ...Object.fromEntries(Object.entries(incident.detail).map(([name, value]) => [words(name), detailText(value)])),
    ...resolvedFacts(incident),
  });

export const paymentIncidentFacts = (incident: PaymentIncident): Html =>
  facts({
    Payment: paymentLink(incident.payment_id),
    Merchant: merchantLink(incident.merchant_id),
    ...openedFacts(incident),
    Transaction: link(`/payments?q=${incident.transaction_id}`, incident.transaction_id),
    Network: incident.network,
    Block: incident.block_hash,
    ...resolvedFacts(incident),
  });

type Incident = NetworkIncident | PaymentIncident;

const openedFacts = ({ opened_at: at }: Incident): Record<string, Cell> => ({ Opened: time(at) });

const resolvedFacts = ({ resolved_at: at, resolved_by: by, resolved_reason: why }: Incident): Record<string, Cell> =>
  at === null ? {} : { Resolved: time(at), By: by, Why: why };

const words = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1).replaceAll('_', ' ');

const detailText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Both kinds are resolved by the same role. @param path of the incident. */
export const resolveLink = ({ resolved_at: at }: Incident, path: string, viewer: Viewer): Html | [] =>
  at === null && mayCall(viewer, PaymentIncidents.resolve.access)
    ? html`<p class="actions">${link(`${path}/resolve`, 'Resolve')}</p>`
    : [];
