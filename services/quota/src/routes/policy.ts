import { HttpError, invalid } from '@quittance/http/errors.ts';
import { queryMoment } from '@quittance/http/server/query-timestamp.ts';
import { pathParameter, route } from '@quittance/http/server/route.ts';
import type { Route, RouteRequest } from '@quittance/http/server/route.ts';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import type { Queries } from '../queries.ts';

const path = '/internal/v1/merchants/:merchant_id';

/** What is known about a merchant: read by payments when its own snapshot refuses, and by the operator. Each is 404 for an unknown one. */
export const policyRoutes = (queries: Queries): Route[] => [
  route({
    method: 'GET',
    path: `${path}/policy`,
    handle: async ({ params }) => {
      const policy = await queries.policy(merchantId(params));
      if (policy === null) throw unknownMerchant();
      return { status: 200, body: policy };
    },
  }),
  // How an operator's command finds out that a block has arrived, and with which version of the policy.
  route({
    method: 'GET',
    path: `${path}/account-status`,
    handle: async ({ params }) => {
      const status = await queries.accountStatus(merchantId(params));
      if (status === null) throw unknownMerchant();
      return { status: 200, body: status };
    },
  }),
  // The newest hundred; `before`, a moment, asks for older ones.
  route({
    method: 'GET',
    path: `${path}/audit`,
    handle: async (request) => {
      const changes = await queries.audit(merchantId(request.params), queryMoment(request.query, 'before'));
      // A registration is a change too, so only a page of older ones can be empty.
      if (changes.length === 0) await refuseUnknown(queries, request);
      return { status: 200, body: { changes } };
    },
  }),
  // The newest hundred days on which something was created; `before`, a day, asks for older ones.
  route({
    method: 'GET',
    path: `${path}/usage`,
    handle: async (request) => {
      const days = await queries.usage(merchantId(request.params), dayOf(request));
      if (days.length === 0) await refuseUnknown(queries, request);
      return { status: 200, body: { days } };
    },
  }),
];

export const unknownMerchant = (): HttpError => new HttpError(404, 'Merchant not found');

export const merchantId = (params: Record<string, string>): string => pathParameter(params, 'merchant_id');

async function refuseUnknown(queries: Queries, { params }: RouteRequest): Promise<void> {
  if ((await queries.policy(merchantId(params))) === null) throw unknownMerchant();
}

/** @returns null when none is asked for. @throws HttpError 422 when it is no day. */
function dayOf({ query }: RouteRequest): Date | null {
  const text = query.get('before');
  if (text === null) return null;
  const day = parseRfc3339(`${text}T00:00:00Z`);
  if (day !== null) return day;
  throw invalid({ field: 'before', reason: 'must be a day such as 2026-01-31' });
}
