import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, route } from '@quittance/http/route.ts';
import type { Route } from '@quittance/http/route.ts';
import type { Queries } from '../queries.ts';

/** What is known about a merchant: read by payments when its own snapshot refuses, and by the operator. */
export const policyRoutes = (queries: Queries): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/policy',
    handle: async ({ params }) => {
      const policy = await queries.policy(merchantId(params));
      if (policy === null) throw unknownMerchant();
      return { status: 200, body: policy };
    },
  }),
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/audit',
    handle: async ({ params }) => {
      const changes = await queries.audit(merchantId(params));
      if (changes.length === 0) throw unknownMerchant();
      return { status: 200, body: { changes } };
    },
  }),
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/usage',
    handle: async ({ params }) => ({ status: 200, body: { days: await queries.usage(merchantId(params)) } }),
  }),
];

export const unknownMerchant = (): HttpError => new HttpError(404, 'Merchant not found');

export const merchantId = (params: Record<string, string>): string => pathParameter(params, 'merchant_id');
