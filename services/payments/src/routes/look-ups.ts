import {
  FindMerchantTransfers,
  LocateTransfers,
  ReadCheckoutHelp,
} from '@quittance/contracts/http/payments/look-ups.ts';
import { parseTransactionId } from '@quittance/contracts/ids.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { readCheckoutHelp } from '../look-ups/checkout-help.ts';
import type { ReadWarnings } from '../views/warnings.ts';
import { findMerchantTransfers, type FindingContext, locateTransfers } from '../look-ups/find-transfers.ts';

type Dependencies = {
  finding: FindingContext & { readWarnings: ReadWarnings };
  /** The operators' own connections, and their own client. */
  operators: Pick<FindingContext, 'finder'> & { db: Queryable };
};

/** Where money is: for merchants, for operators, and for customers on the checkout page. */
export const lookUpRoutes = ({ finding, operators }: Dependencies): Route[] => [
  callRoute(FindMerchantTransfers, ({ params, query }) =>
    findMerchantTransfers(finding, params.merchant_id, required(query.transaction_id)),
  ),
  callRoute(LocateTransfers, ({ params }) =>
    locateTransfers({ ...finding, ...operators }, required(parseTransactionId(params.transaction_id))),
  ),
  callRoute(ReadCheckoutHelp, async ({ body }) => {
    const help = await readCheckoutHelp(finding, body);
    if (help === null) throw new HttpError(404, 'Payment not found');
    return help;
  }),
];

function required(transactionId: string | null): string {
  if (transactionId === null) throw invalid({ field: 'transaction_id', reason: 'must be 64 hexadecimal characters' });
  return transactionId;
}
