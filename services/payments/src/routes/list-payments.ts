import { type PaymentStatus, paymentStatuses } from '@quittance/contracts/payment.ts';
import { readCursor, writeCursor } from '@quittance/contracts/payment-cursor.ts';
import { invalid, type ValidationItem } from '@quittance/http/errors.ts';
import { pathParameter, route, type Route } from '@quittance/http/server/route.ts';
import type { ListFilter, Queries } from '../queries/payments.ts';
import { toPayment } from '../views/payment-json.ts';

/** A merchant's payments, as lists. */
export const listPaymentsRoutes = (queries: Queries, publicBaseUrl: string): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/payments',
    handle: async ({ params, query }) => {
      const { payments, next } = await queries.list(pathParameter(params, 'merchant_id'), readFilter(query));
      return {
        status: 200,
        body: {
          payments: payments.map((payment) => toPayment(payment, payment.transfer, publicBaseUrl)),
          next_cursor: next && writeCursor(next),
        },
      };
    },
  }),
];

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
