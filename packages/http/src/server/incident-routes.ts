import type { Author } from '@quittance/contracts/author.ts';
import { isIncidentId, type IncidentCalls } from '@quittance/contracts/http/incidents.ts';
import { HttpError } from '../errors.ts';
import { callRoute } from './call-route.ts';
import type { Route } from './route.ts';

/** How a service reads and resolves its incidents. */
type IncidentStore<Row, Incident> = {
  /** At most `limit`, newest first; `before` is the last one of the previous page, or null for the first page. */
  read(list: { status: 'open' | 'all'; before: string | null; limit: number }): Promise<Row[]>;
  /** @returns the resolved incident, or null when there is none with this id. */
  resolve(incidentId: string, author: Author): Promise<Row | null>;
  toJson(row: Row): Incident;
};

const LIST_MAX = 100;

export const incidentRoutes = <Row, Incident>(
  calls: IncidentCalls<Incident>,
  { read, resolve, toJson }: IncidentStore<Row, Incident>,
): Route[] => [
  callRoute(calls.list, async ({ query: { status, before } }) => {
    const incidents = await read({ status: status ?? 'open', before, limit: LIST_MAX });
    return { incidents: incidents.map(toJson) };
  }),
  callRoute(calls.resolve, async ({ params: { incident_id: incidentId }, author }) => {
    const incident = isIncidentId(incidentId) ? await resolve(incidentId, author) : null;
    if (incident === null) throw new HttpError(404, 'Incident not found');
    return toJson(incident);
  }),
];
