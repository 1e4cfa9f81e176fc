import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { ProgressSources } from '../payment/progress.ts';
import { FindPayments } from '@quittance/contracts/http/payments/finding.ts';
import { parseReference } from '@quittance/contracts/payment-reference.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import { findPayments } from './find.sql.ts';
import { toPayments } from '../payment/view.ts';
import {
  FindMerchantTransfers,
  LocateTransfers,
  ReadCheckoutHelp,
} from '@quittance/contracts/http/payments/look-ups.ts';
import { parseTransactionId } from '@quittance/contracts/ids.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { readCheckoutHelp } from './checkout-help.ts';
import type { ReadWarnings } from '../payment/warnings.ts';
import { findMerchantTransfers, type FindingContext, locateTransfers } from './find-transfers.ts';
import {
  ListUnmatched,
  ListUnmatchedOfMerchant,
  writePlace,
  type UnmatchedPage,
  type UnmatchedPlace,
} from '@quittance/contracts/http/payments/unmatched.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { listUnmatched, type UnmatchedRow } from './unmatched.sql.ts';
import { toUnmatched } from './unmatched.ts';

type SearchDependencies = ProgressSources & { db: Queryable; networks: readonly string[]; publicBaseUrl: string };

/** For operators, who have some reference to a payment but not its merchant. */
export const findPaymentsRoute = ({ db, networks, publicBaseUrl, ...progress }: SearchDependencies): Route =>
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

type LookUpDependencies = {
  finding: FindingContext & { readWarnings: ReadWarnings };
  /** The operators' own connections, and their own client. */
  operators: Pick<FindingContext, 'finder'> & { db: Queryable };
};

/** Where money is: for merchants, for operators, and for customers on the checkout page. */
export const lookUpRoutes = ({ finding, operators }: LookUpDependencies): Route[] => [
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

/** Unmatched transfers that need a person's decision. Merchants' requests do not use the operators' connection. */
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
