import { ReadMerchantTotals, ReadReport, ReadTotals } from '@quittance/contracts/http/payments/reports.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute, callReader, wayTo } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { createKeyedQueue } from '@quittance/runtime/concurrency/keyed-queue.ts';
import { readReport } from './report.ts';
import { createDayCounts, createMerchantTotals, createTotals } from './totals.ts';
import { ExportPayments } from '@quittance/contracts/http/payments/finding.ts';
import { startStream } from '@quittance/http/server/reply.ts';
import { exportPayments, type ExportContext, writerOf } from './export.ts';

/** This many reports count at once, each on its own connection. */
const AT_ONCE = 2;

/** A merchant's reports wait for one another, so a merchant with a million payments does not hold up other merchants for long. */
export function reportRoute(db: Queryable): Route {
  const ofMerchant = createKeyedQueue({ perKey: 1 });
  const ofAll = createKeyedQueue({ perKey: AT_ONCE });
  return callRoute(ReadReport, ({ params: { merchant_id: merchantId }, query: { group, by, ...days } }) => {
    const span = { ...spanOf(days), group: group ?? 'day', by: by ?? 'payment' } as const;
    return ofMerchant(merchantId, () => ofAll('', () => readReport(db, merchantId, span)));
  });
}

/** Totals of all merchants and of one. One after the other: the next request can use what the first has counted. */
export function totalsRoutes(db: Queryable): Route[] {
  const countDays = createDayCounts(db);
  const totals = createTotals(db, countDays);
  const ofMerchant = createMerchantTotals(countDays);
  const queue = createKeyedQueue({ perKey: 1 });
  return [
    callRoute(ReadTotals, ({ query }) => {
      const span = spanOf(query);
      return queue('', () => totals(span));
    }),
    callRoute(ReadMerchantTotals, ({ params: { merchant_id: merchantId }, query }) => {
      const span = spanOf(query);
      return queue(merchantId, () => ofMerchant(merchantId, span));
    }),
  ];
}

/** @throws HttpError 422 naming what is missing. */
function spanOf({ from, to }: { from: Date | null; to: Date | null }): { from: Date; to: Date } {
  if (from !== null && to !== null) return { from, to };
  throw invalid(
    ...[!from && 'from', !to && 'to'].flatMap((field) => (field ? [{ field, reason: 'is required' }] : [])),
  );
}

/** A merchant's payments as one stream. */
export function exportPaymentsRoute(context: ExportContext): Route {
  const read = callReader(ExportPayments);
  return {
    ...wayTo(ExportPayments),
    handle: async (request) => {
      const { params, query } = await read(request);
      const writer = writerOf(query.format ?? 'csv', query.bom === '1');
      const pieces = exportPayments(context, {
        merchantId: params.merchant_id,
        status: query.status,
        createdFrom: query.created_from,
        createdTo: query.created_to,
        writer,
      });
      return { status: 200, headers: { 'content-type': writer.contentType }, body: await startStream(pieces) };
    },
  };
}
