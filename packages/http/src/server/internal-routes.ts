import type { Author } from '@quittance/contracts/author.ts';
import { isIncidentId, type IncidentCalls } from '@quittance/contracts/http/incidents.ts';
import { HttpError } from '../errors.ts';
import { callRoute } from './call-route.ts';
import type { Route } from './route.ts';
import { ReadTrust, type LegacyKind, type LegacyUse } from '@quittance/contracts/http/trust.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import type { Trust } from '@quittance/runtime/trust.ts';

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

/** Records what a service accepts only because INTERNAL_TOKEN is set. */
export type LegacyRecord = {
  accepted(kind: LegacyKind): void;
  read(): Promise<{ watchedSeconds: number | null; legacy: LegacyUse[] }>;
};

/** Says whether INTERNAL_TOKEN is still needed, for `ops trust check`. Every service has this route. */
export const trustRoute = (service: ServiceName, trust: Trust, record: LegacyRecord): Route =>
  callRoute(ReadTrust[service], async () => {
    const { watchedSeconds, legacy } = await record.read();
    const acceptsToken = trust.sharedTokens.length > 0;
    return {
      has_key: trust.signer !== null,
      accepts_internal_token: acceptsToken,
      watched_seconds: acceptsToken ? watchedSeconds : null,
      legacy,
    };
  });
