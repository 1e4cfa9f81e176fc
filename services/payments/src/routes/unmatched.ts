import {
  ListUnmatched,
  ListUnmatchedOfMerchant,
  writePlace,
  type UnmatchedPage,
  type UnmatchedPlace,
} from '@quittance/contracts/http/payments/unmatched.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { listUnmatched, type UnmatchedRow } from '../queries/unmatched.ts';
import { toUnmatched } from '../views/unmatched.ts';

/** Money that pays nothing and waits for a person. What merchants may ask for is not read by the operators' connection. */
export function unmatchedRoutes({ db, operators }: { db: Queryable; operators: Queryable }): Route[] {
  const page = async (
    from: Queryable,
    merchantId: string | null,
    cursor: UnmatchedPlace | null,
  ): Promise<UnmatchedPage> => {
    const { rows, next } = await listUnmatched(from, merchantId, cursor);
    return {
      transfers: rows.map((row) => toListed(row, merchantId)),
      next_cursor: next && writePlace(next),
      looked_through: next && rfc3339(next.blockTimestamp),
    };
  };
  return [
    callRoute(ListUnmatched, ({ query }) => page(operators, null, query.cursor)),
    callRoute(ListUnmatchedOfMerchant, ({ params, query }) => page(db, params.merchant_id, query.cursor)),
  ];
}

function toListed({ recipient, related_payment: related, ...row }: UnmatchedRow, merchantId: string | null) {
  const shown = toUnmatched(row, merchantId);
  return { ...shown, merchant_wallet: recipient, related_payment: shown.related_payment_id === null ? null : related };
}
