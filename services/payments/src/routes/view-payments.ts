import {
  DETAILS_MAX,
  type DetailsAnswer,
  type DetailsRequest,
  PUBLIC_PAYMENTS_MAX,
  type PublicPaymentsAnswer,
  type PublicPaymentsRequest,
} from '@quittance/contracts/payment-views.ts';
import { compileSchema, describeErrors } from '@quittance/contracts/schema.ts';
import { readJson } from '@quittance/http/server/body.ts';
import { invalid } from '@quittance/http/errors.ts';
import { route, type Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { ReadTips } from '../views/chain-tips.ts';
import { readDetails, readPublicPayments } from '../views/payment-details.ts';

const MAX_BODY_BYTES = 64 * 1024;

const readDetailsRequest = bodyOf<DetailsRequest>({
  payments: {
    type: 'array',
    maxItems: DETAILS_MAX,
    items: {
      type: 'object',
      required: ['merchant_id', 'payment_id'],
      properties: { merchant_id: { type: 'string' }, payment_id: { type: 'string' } },
    },
  },
});

const readPublicRequest = bodyOf<PublicPaymentsRequest>({
  tokens_sha256: { type: 'array', maxItems: PUBLIC_PAYMENTS_MAX, items: { type: 'string', pattern: '^[0-9a-f]{64}$' } },
});

type Dependencies = { db: Queryable; publicBaseUrl: string; readTips: ReadTips };

/** Single payments, many in one call: in detail for their merchants, and as their public tokens and checkout pages show them. */
export const paymentViewsRoutes = ({ db, publicBaseUrl, readTips }: Dependencies): Route[] => [
  route({
    method: 'POST',
    path: '/internal/v1/payment-details',
    handle: async (request) => {
      const { payments } = await readJson(request, MAX_BODY_BYTES, readDetailsRequest);
      const body: DetailsAnswer = { found: await readDetails({ db, readTips }, payments, publicBaseUrl) };
      return { status: 200, body };
    },
  }),
  route({
    method: 'POST',
    path: '/internal/v1/public-payments',
    handle: async (request) => {
      const { tokens_sha256: tokens } = await readJson(request, MAX_BODY_BYTES, readPublicRequest);
      const body: PublicPaymentsAnswer = { found: await readPublicPayments({ db, readTips }, tokens) };
      return { status: 200, body };
    },
  }),
];

function bodyOf<T>(properties: Record<keyof T & string, object>): (value: Record<string, unknown>) => T {
  const validate = compileSchema<T>({ type: 'object', required: Object.keys(properties), properties });
  return (value) => {
    if (validate(value)) return value;
    throw invalid({ field: 'body', reason: describeErrors(validate.errors) });
  };
}
