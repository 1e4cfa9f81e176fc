import { FindPayments } from '@quittance/contracts/http/payments/finding.ts';
import { parseReference } from '@quittance/contracts/payment-reference.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { findPayments } from '../queries/found-payments.ts';
import type { ProgressSources } from '../views/confirmations.ts';
import { toPayments } from '../views/listed-payments.ts';

type Dependencies = ProgressSources & { db: Queryable; networks: readonly string[]; publicBaseUrl: string };

/** For operators, who have one of a payment's names and not its merchant. */
export const findPaymentsRoute = ({ db, networks, publicBaseUrl, ...progress }: Dependencies): Route =>
  callRoute(FindPayments, async ({ query }) => {
    const sought = {
      paymentId: query.payment_id,
      tokenSha256: query.token_sha256,
      orderId: query.order_id,
      idEnd: query.reference === null ? null : parseReference(query.reference),
      transactionId: query.transaction_id,
      recipient: query.merchant_wallet,
    };
    const rows = await findPayments(db, sought, networks);
    const shown = await toPayments(rows, progress, publicBaseUrl);
    return {
      payments: rows.flatMap(({ merchant_id, found_by }, position) => {
        const payment = shown[position];
        return payment === undefined ? [] : [{ ...payment, merchant_id, found_by }];
      }),
    };
  });
