import { ExportPayments } from '@quittance/contracts/http/payments/finding.ts';
import { callReader, wayTo } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { startStream } from '@quittance/http/server/start-stream.ts';
import { exportPayments, type ExportContext } from '../exports/export-payments.ts';
import { writerOf } from '../exports/format.ts';

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
