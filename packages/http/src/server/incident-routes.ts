import type { Author } from '@quittance/contracts/author.ts';
import { HttpError, invalid } from '../errors.ts';
import { operatorBody } from './operator-body.ts';
import { pathParameter, route, type Route } from './route.ts';

/** Where a service keeps its incidents; ids are UUIDs. */
export type Incidents<Incident> = {
  /** At most `limit`, newest first; `before` is the last one of the page before, or null for the first page. */
  read(list: { status: 'open' | 'all'; before: string | null; limit: number }): Promise<Incident[]>;
  /** @returns the incident as it then stands, or null when there is none of this id. */
  resolve(incidentId: string, author: Author): Promise<Incident | null>;
  toJson(incident: Incident): object;
};

const LIST_MAX = 100;

const readResolution = operatorBody({});

/**
 * What a person has to look at, and saying that somebody has. A list holds the newest hundred; `before`, the last one of it, asks for
 * older ones. Resolving undoes nothing and pays nothing: it only says who has dealt with it. Repeating that changes nothing.
 */
export const incidentRoutes = <Incident>({ read, resolve, toJson }: Incidents<Incident>): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/incidents',
    handle: async ({ query }) => {
      const status = query.get('status') ?? 'open';
      if (status !== 'open' && status !== 'all') throw invalid({ field: 'status', reason: 'must be open or all' });
      const before = query.get('before');
      if (before !== null && !isIncidentId(before))
        throw invalid({ field: 'before', reason: 'must be an incident id' });
      const incidents = await read({ status, before, limit: LIST_MAX });
      return { status: 200, body: { incidents: incidents.map(toJson) } };
    },
  }),
  route({
    method: 'POST',
    path: '/internal/v1/incidents/:incident_id/resolve',
    handle: async (request) => {
      const { author } = await readResolution(request);
      const incidentId = pathParameter(request.params, 'incident_id');
      const incident = isIncidentId(incidentId) ? await resolve(incidentId, author) : null;
      if (incident === null) throw new HttpError(404, 'Incident not found');
      return { status: 200, body: toJson(incident) };
    },
  }),
];

const isIncidentId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
