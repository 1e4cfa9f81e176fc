import { ReadReport, ReadTotals } from '@quittance/contracts/http/payments/reports.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute, callReader, wayTo } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { createKeyedQueue } from '@quittance/runtime/concurrency/keyed-queue.ts';
import { readReport } from './report.ts';
import { createTotals } from './totals.ts';
import { ExportPayments } from '@quittance/contracts/http/payments/finding.ts';
import { startStream } from '@quittance/http/server/reply.ts';
import { exportPayments, type ExportContext, writerOf } from './export.ts';

/** This many reports count at once, each on its own connection. */
const AT_ONCE = 2;

/** A merchant's reports wait for one another, so a merchant with a million payments does not hold up other merchants for long. */
export function reportRoute(db: Queryable): Route {
  const ofMerchant = createKeyedQueue({ perKey: 1 });
  const ofAll = createKeyedQueue({ perKey: AT_ONCE });
  return callRoute(ReadReport, ({ params: { merchant_id: merchantId }, query: { from, to, group, by } }) => {
    if (from === null || to === null) {
      throw invalid(
        ...[!from && 'from', !to && 'to'].flatMap((field) => (field ? [{ field, reason: 'is required' }] : [])),
      );
    }
    return ofMerchant(merchantId, () =>
      ofAll('', () => readReport(db, merchantId, { from, to, group: group ?? 'day', by: by ?? 'payment' })),
    );
  });
}

/** One after the other: the next request can use what the first has counted. */
export function totalsRoute(db: Queryable): Route {
  const totals = createTotals(db);
  const queue = createKeyedQueue({ perKey: 1 });
  return callRoute(ReadTotals, ({ query: { from, to } }) => {
    if (from === null || to === null)
      throw invalid(
        ...[!from && 'from', !to && 'to'].flatMap((field) => (field ? [{ field, reason: 'is required' }] : [])),
      );
    return queue('', () => totals({ from, to }));
  });
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
