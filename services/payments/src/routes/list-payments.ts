import { ListPayments } from '@quittance/contracts/http/payments/payments.ts';
import { writeCursor } from '@quittance/contracts/payment-cursor.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queries } from '../queries/payments.ts';
import type { ProgressSources } from '../views/confirmations.ts';
import { toListedPayments } from '../views/listed-payments.ts';

const DEFAULT_LIMIT = 20;

/** A merchant's payments. */
export const listPaymentsRoute = (queries: Queries, publicBaseUrl: string, progress: ProgressSources): Route =>
  callRoute(ListPayments, async ({ params, query }) => {
    const { payments, next } = await queries.list(params.merchant_id, {
      status: query.status,
      createdFrom: query.created_from,
      createdTo: query.created_to,
      after: query.cursor,
      limit: query.limit ?? DEFAULT_LIMIT,
    });
    return {
      payments: await toListedPayments({ queries, ...progress }, payments, publicBaseUrl),
      next_cursor: next && writeCursor(next),
    };
  });
