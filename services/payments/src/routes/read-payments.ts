import { type PaymentStatus, paymentStatuses } from '@quittance/contracts/payment.ts';
import { HttpError, invalid, type ValidationItem } from '@quittance/http/errors.ts';
import { pathParameter, route, type Route } from '@quittance/http/route.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { ListFilter, Queries } from '../queries.ts';

/** A merchant's payments, one payment, and what a public token shows. */
export const readPaymentsRoutes = (queries: Queries): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/payments',
    handle: async ({ params, query }) => {
      const { payments, next } = await queries.list(pathParameter(params, 'merchant_id'), readFilter(query));
      return { status: 200, body: { payments, next_cursor: next === null ? null : writeCursor(next) } };
    },
  }),
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/payments/:payment_id',
    handle: async ({ params }) => {
      const payment = await queries.details(pathParameter(params, 'merchant_id'), pathParameter(params, 'payment_id'));
      if (payment === null) throw paymentNotFound();
      return { status: 200, body: payment };
    },
  }),
  route({
    method: 'GET',
    path: '/internal/v1/public-payments/:token_sha256',
    handle: async ({ params }) => {
      const hash = pathParameter(params, 'token_sha256');
      const payment = /^[0-9a-f]{64}$/.test(hash) ? await queries.byToken(Buffer.from(hash, 'hex')) : null;
      if (payment === null) throw paymentNotFound();
      return { status: 200, body: payment };
    },
  }),
];

/** The same for an unknown payment and for another merchant's. */
export const paymentNotFound = (): HttpError => new HttpError(404, 'Payment not found');

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** The gateway has checked the parameters' form; what only this service can read, the cursor, is checked here. */
function readFilter(query: URLSearchParams): ListFilter {
  const problems: ValidationItem[] = [];
  const parameter = <T>(field: string, parse: (text: string) => T | null, reason: string): T | null => {
    const text = query.get(field);
    if (text === null) return null;
    const value = parse(text);
    if (value === null) problems.push({ field, reason });
    return value;
  };
  const filter = {
    status: parameter('status', toStatus, `must be one of ${paymentStatuses.join(', ')}`),
    createdFrom: parameter('created_from', toDate, 'must be an RFC 3339 time'),
    createdTo: parameter('created_to', toDate, 'must be an RFC 3339 time'),
    after: parameter('cursor', readCursor, 'must be a next_cursor of an earlier page'),
    limit: parameter('limit', toLimit, `must be a whole number from 1 to ${MAX_LIMIT}`) ?? DEFAULT_LIMIT,
  };
  if (problems.length > 0) throw invalid(...problems);
  return filter;
}

const toStatus = (text: string): PaymentStatus | null => paymentStatuses.find((status) => status === text) ?? null;

function toDate(text: string): Date | null {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}

function toLimit(text: string): number | null {
  const limit = Number(text);
  return Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT ? limit : null;
}
