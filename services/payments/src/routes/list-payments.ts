import { ListPayments } from '@quittance/contracts/http/payments/payments.ts';
import { writeCursor } from '@quittance/contracts/payment-cursor.ts';
import { parseReference } from '@quittance/contracts/payment-reference.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { listPayments } from '../queries/payment-lists.ts';
import type { ProgressSources } from '../views/confirmations.ts';
import { toPayments } from '../views/listed-payments.ts';

const DEFAULT_LIMIT = 20;

type Dependencies = ProgressSources & { db: Queryable; networks: readonly string[]; publicBaseUrl: string };

/** A merchant's payments. */
export const listPaymentsRoute = ({ db, networks, publicBaseUrl, ...progress }: Dependencies): Route =>
  callRoute(ListPayments, async ({ params, query }) => {
    const { payments, next } = await listPayments(db, params.merchant_id, {
      networks,
      filter: {
        status: query.status,
        createdFrom: query.created_from,
        createdTo: query.created_to,
        paidFrom: query.paid_from,
        paidTo: query.paid_to,
        orderId: query.order_id,
        idEnd: query.reference === null ? null : parseReference(query.reference),
        transactionId: query.transaction_id,
        recipient: query.merchant_wallet,
        network: query.network,
      },
      part: { after: query.cursor, limit: query.limit ?? DEFAULT_LIMIT, order: 'newest first' },
    });
    return { payments: await toPayments(payments, progress, publicBaseUrl), next_cursor: next && writeCursor(next) };
  });
