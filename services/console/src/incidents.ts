import { html } from '@quittance/checkout-page/html.ts';
import { NetworkIncidents, isIncidentId, PaymentIncidents } from '@quittance/contracts/http/incidents.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import {
  incidentsTable,
  incidentView,
  ofNetworks,
  ofPayments,
  resolveIncident,
  type ListedIncident,
} from '@quittance/operator/incidents.ts';
import { words } from '@quittance/operator/view.ts';
import { actionRoutes } from './action.ts';
import { mayAct } from './cell.ts';
import { pageRoute, type Context, type Visit } from './page-route.ts';
import { placeForIncident, type Runbooks } from './runbooks.ts';
import { tabs } from './people.ts';
import { partOf, type Services } from './services.ts';
import { render, show } from './view.ts';

/** One incident next to its runbook, and the form that resolves it. */
export const incidentRoutes = (context: Context, runbooks: Runbooks): Route[] => [
  pageRoute(context, '/incidents', async ({ request, services, viewer }) => {
    const status = request.query.get('status') === 'all' ? 'all' : 'open';
    const [aboutNetworks, aboutPayments] = await Promise.all([
      partOf(services.call(NetworkIncidents.list, { query: { status } })),
      partOf(services.call(PaymentIncidents.list, { query: { status } })),
    ]);
    const listed = (incidents: readonly ListedIncident[], about: string) =>
      render([incidentsTable(incidents, `about ${about}`)], viewer);
    return {
      title: 'Incidents',
      content: html`${tabs([
        ['/incidents', 'Open', status === 'open'],
        ['/incidents?status=all', 'The newest hundred of each', status === 'all'],
      ])}
      ${show(aboutNetworks, ({ incidents }) => listed(incidents.map(ofNetworks), 'networks'))}
      ${show(aboutPayments, ({ incidents }) => listed(incidents.map(ofPayments), 'payments'))}`,
    };
  }),
  pageRoute(context, '/incidents/:about/:incident_id', async ({ request, services, viewer }) => {
    const { about, id, path } = placeIn(request);
    const incident = await found(services, about, id);
    const isOpen = incident.resolved_at === null && mayAct('incident resolve', viewer);
    return {
      title: `Incident: ${words(incident.kind)}`,
      content: html`<div class="beside">
        <div>
          ${render(incidentView(incident), viewer)}
          ${isOpen ? html`<p class="actions"><a class="main" href="${path}/resolve">Resolve</a></p>` : []}
        </div>
        <article class="text" aria-label="Runbook">${runbooks.section(placeForIncident(incident.kind))}</article>
      </div>`,
    };
  }),
  ...actionRoutes(context, resolveIncident, async ({ request, services }, _values, author) => {
    const { about, id, path } = placeIn(request);
    const given = { params: { incident_id: id }, author };
    await (about === 'network'
      ? services.call(NetworkIncidents.resolve, given)
      : services.call(PaymentIncidents.resolve, given));
    return path;
  }),
];

/** Among the newest hundred that are open, or else of all. @throws HttpError 404. */
async function found(services: Services, about: 'network' | 'payment', id: string): Promise<ListedIncident> {
  for (const status of ['open', 'all']) {
    const query = { status };
    const all: ListedIncident[] =
      about === 'network'
        ? (await services.call(NetworkIncidents.list, { query })).incidents.map(ofNetworks)
        : (await services.call(PaymentIncidents.list, { query })).incidents.map(ofPayments);
    const incident = all.find(({ incident_id: one }) => one === id);
    if (incident !== undefined) return incident;
  }
  throw new HttpError(404, 'Incident not found');
}

/** @throws HttpError 404 for what is no incident. */
function placeIn({ params }: Visit['request']) {
  const about = pathParameter(params, 'about');
  const id = pathParameter(params, 'incident_id');
  if ((about !== 'network' && about !== 'payment') || !isIncidentId(id)) throw new HttpError(404, 'Incident not found');
  return { about, id, path: `/incidents/${about}/${id}` } as const;
}
