import { html } from '@quittance/checkout-page/html.ts';
import { ReadChains } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { NetworkIncidents } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { isIncidentId } from '@quittance/contracts/http/incidents.ts';
import { PaymentIncidents } from '@quittance/contracts/http/payments/incidents.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { confirmation, REASON_MAX } from '../pages/confirmation.ts';
import { networksTable, networkIncidentsTable, paymentIncidentsTable } from '../pages/networks.ts';
import { show } from '../pages/parts.ts';
import { textIn } from '../session/form.ts';
import { partOf } from '../upstream/services.ts';
import { actionRoute, pageRoute, type Context, type Visit } from './page-route.ts';

const owners = { network: NetworkIncidents, payment: PaymentIncidents };

export const networkRoutes = (context: Context): Route[] => [
  pageRoute(context, '/networks', async ({ services, viewer }) => {
    const [chains, aboutNetworks, aboutPayments] = await Promise.all([
      partOf(services.call(ReadChains)),
      partOf(services.call(NetworkIncidents.list)),
      partOf(services.call(PaymentIncidents.list)),
    ]);
    return {
      title: 'Networks',
      content: html`${show(chains, networksTable)}
      ${show(aboutNetworks, ({ incidents }) => networkIncidentsTable(incidents, viewer))}
      ${show(aboutPayments, ({ incidents }) => paymentIncidentsTable(incidents, viewer))}`,
    };
  }),
  pageRoute(context, '/incidents/:about/:incident_id/resolve', async (visit) => {
    const { path } = incidentIn(visit);
    return {
      title: 'Resolve an incident',
      content: confirmation(visit.viewer, {
        question: html`Record that this incident was dealt with? Nothing else changes, and it pays nothing.`,
        action: path,
        label: 'Resolve',
        back: '/networks',
      }),
    };
  }),
  actionRoute(context, '/incidents/:about/:incident_id/resolve', async (visit, form) => {
    const { calls, id } = incidentIn(visit);
    const author = { actor: visit.viewer.name, reason: textIn(form, 'reason', REASON_MAX) };
    await visit.services.call(calls.resolve, { params: { incident_id: id }, author });
    return '/networks';
  }),
];

/** @throws HttpError 404 for what is no incident. */
function incidentIn({ request }: Visit) {
  const about = pathParameter(request.params, 'about');
  const id = pathParameter(request.params, 'incident_id');
  if ((about !== 'network' && about !== 'payment') || !isIncidentId(id)) throw new HttpError(404, 'Incident not found');
  return { calls: owners[about], id, path: `/incidents/${about}/${id}/resolve` };
}
