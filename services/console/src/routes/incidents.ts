import { html, type Html } from '@quittance/checkout-page/html.ts';
import { NetworkIncidents } from '@quittance/contracts/http/chain-watcher/incidents.ts';
import { isIncidentId } from '@quittance/contracts/http/incidents.ts';
import { PaymentIncidents } from '@quittance/contracts/http/payments/incidents.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { confirmation, REASON_MAX } from '../pages/confirmation.ts';
import { networkIncidentFacts, paymentIncidentFacts, resolveLink } from '../pages/incident.ts';
import { besideRunbook } from '../pages/runbook.ts';
import { placeForIncident } from '../runbooks/for-incidents.ts';
import type { Runbooks } from '../runbooks/runbooks.ts';
import { textIn } from '../session/form.ts';
import type { Services } from '../upstream/services.ts';
import { actionRoute, pageRoute, type Context, type Visit } from './page-route.ts';

/** One incident beside what its runbook says, and that it was dealt with. */
export const incidentRoutes = (context: Context, runbooks: Runbooks): Route[] => [
  pageRoute(context, '/incidents/:about/:incident_id', async (visit) => {
    const place = placeIn(visit);
    const { incident, facts } = await found(visit.services, place);
    return {
      title: `Incident: ${incident.kind.replaceAll('_', ' ')}`,
      content: besideRunbook(
        html`${facts} ${resolveLink(incident, place.path, visit.viewer)}`,
        runbooks.section(placeForIncident(incident.kind)),
      ),
    };
  }),
  pageRoute(context, '/incidents/:about/:incident_id/resolve', async (visit) => {
    const { path } = placeIn(visit);
    return {
      title: 'Resolve an incident',
      content: confirmation(visit.viewer, {
        question: html`Record that this incident was dealt with? Nothing else changes, and it pays nothing.`,
        action: `${path}/resolve`,
        label: 'Resolve',
        back: path,
      }),
    };
  }),
  actionRoute(context, '/incidents/:about/:incident_id/resolve', async (visit, form) => {
    const { about, id, path } = placeIn(visit);
    const author = { actor: visit.viewer.name, reason: textIn(form, 'reason', REASON_MAX) };
    const { resolve } = about === 'network' ? NetworkIncidents : PaymentIncidents;
    await visit.services.call(resolve as typeof PaymentIncidents.resolve, { params: { incident_id: id }, author });
    return path;
  }),
];

/** Among the newest hundred that are open, or else of all. @throws HttpError 404. */
async function found(services: Services, { about, id }: { about: 'network' | 'payment'; id: string }) {
  for (const status of ['open', 'all']) {
    const shown = about === 'network' ? await ofNetworks(services, id, status) : await ofPayments(services, id, status);
    if (shown !== null) return shown;
  }
  throw new HttpError(404, 'Incident not found');
}

const ofNetworks = async (services: Services, id: string, status: string) =>
  shownOf((await services.call(NetworkIncidents.list, { query: { status } })).incidents, id, networkIncidentFacts);

const ofPayments = async (services: Services, id: string, status: string) =>
  shownOf((await services.call(PaymentIncidents.list, { query: { status } })).incidents, id, paymentIncidentFacts);

function shownOf<T extends { incident_id: string }>(incidents: readonly T[], id: string, view: (incident: T) => Html) {
  const incident = incidents.find(({ incident_id: one }) => one === id);
  return incident === undefined ? null : { incident, facts: view(incident) };
}

/** @throws HttpError 404 for what is no incident. */
function placeIn({ request }: Visit) {
  const about = pathParameter(request.params, 'about');
  const id = pathParameter(request.params, 'incident_id');
  if ((about !== 'network' && about !== 'payment') || !isIncidentId(id)) throw new HttpError(404, 'Incident not found');
  return { about, id, path: `/incidents/${about}/${id}` } as const;
}
