import { HttpError, invalid } from '@quittance/http/errors.ts';
import { operatorBody } from '@quittance/http/operator-body.ts';
import { pathParameter, route, type Route } from '@quittance/http/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { readIncidents, resolveIncident, type IncidentRow } from '../store/incidents.ts';

const LIST_MAX = 100;

const readResolution = operatorBody({});

/**
 * What a person has to look at, and saying that somebody has; as in payments, about networks. A list holds the newest hundred; `before`,
 * the last one of it, asks for older ones. Resolving changes nothing else, and repeating it changes nothing at all.
 */
export const incidentRoutes = (db: Queryable): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/incidents',
    handle: async ({ query }) => {
      const status = query.get('status') ?? 'open';
      if (status !== 'open' && status !== 'all') throw invalid({ field: 'status', reason: 'must be open or all' });
      const before = query.get('before');
      if (before !== null && !isIncidentId(before))
        throw invalid({ field: 'before', reason: 'must be an incident id' });
      const incidents = await readIncidents(db, { status, before, limit: LIST_MAX });
      return { status: 200, body: { incidents: incidents.map(toJson) } };
    },
  }),
  route({
    method: 'POST',
    path: '/internal/v1/incidents/:incident_id/resolve',
    handle: async (request) => {
      const { author } = await readResolution(request);
      const incidentId = pathParameter(request.params, 'incident_id');
      const incident = isIncidentId(incidentId) ? await resolveIncident(db, incidentId, author) : null;
      if (incident === null) throw new HttpError(404, 'Incident not found');
      return { status: 200, body: toJson(incident) };
    },
  }),
];

const isIncidentId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

const toJson = (incident: IncidentRow): object => ({
  ...incident,
  opened_at: rfc3339(incident.opened_at),
  last_seen_at: rfc3339(incident.last_seen_at),
  resolved_at: incident.resolved_at && rfc3339(incident.resolved_at),
});
