import { ExportPayments } from '@quittance/contracts/http/payments/finding.ts';
import { ListPayments } from '@quittance/contracts/http/payments/payments.ts';
import { ReadReport } from '@quittance/contracts/http/payments/report.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { unavailable } from '@quittance/http/errors.ts';
import type { ServiceResponse } from '@quittance/http/client/request.ts';
import type { StreamResponse } from '@quittance/http/client/stream.ts';
import type { Reply, Route } from '@quittance/http/server/route.ts';
import { systemClock } from '@quittance/runtime/time.ts';
import type { Admission } from '../admission/admission.ts';
import { merchantRoute } from '../admission/merchant-route.ts';
import { rateLimits } from '../admission/rate-limits.ts';
import { rateLimited } from '../responses/errors.ts';
import { forward, successBody, type Upstreams } from '../upstream/response.ts';
import { bodiless } from '../validation/body-limit.ts';
import { listQueries, readExportQuery, readReportQuery } from '../validation/list-query.ts';

/** Counting a million payments takes longer than other requests may. */
const REPORT_TIMEOUT_MS = 8_500;

type Dependencies = { admission: Admission; upstreams: Upstreams; networks: readonly Network[] };

/** Lists, the export and the report of a merchant's payments. All count as shared reads. */
export function findingRoutes({ admission, upstreams, networks }: Dependencies): Route[] {
  const limit = rateLimits.sharedReads;
  const queries = listQueries(networks);
  const reading = <Query>(read: (query: URLSearchParams) => Query) => ({
    limit,
    read: bodiless((request) => read(request.query)),
  });
  return [
    merchantRoute(admission, 'GET /api/v1/payments', {
      ...reading(queries.list),
      handle: async ({ merchant, input }) => {
        const answer = await upstreams.payments.send(ListPayments, { params: merchant, query: input });
        requireFiltered(answer, input);
        const page = successBody(ListPayments, answer);
        return page === null ? forward(answer) : { status: 200, body: { payments: page.payments } };
      },
    }),

    merchantRoute(admission, 'GET /api/v1/payments/page', {
      ...reading(queries.page),
      handle: async ({ merchant, input }) => {
        const answer = await upstreams.payments.send(ListPayments, { params: merchant, query: input });
        requireFiltered(answer, input);
        return forward(answer);
      },
    }),

    merchantRoute(admission, 'GET /api/v1/payments/export', {
      ...reading((query) => readExportQuery(query, systemClock)),
      handle: async ({ merchant, input }) =>
        toExport(await upstreams.payments.stream(ExportPayments, { params: merchant, query: input })),
    }),

    {
      publicTimeoutMs: REPORT_TIMEOUT_MS,
      ...merchantRoute(admission, 'GET /api/v1/merchant/report', {
        ...reading(readReportQuery),
        handle: async ({ merchant, input }) => {
          const answer = await upstreams.reports.send(ReadReport, { params: merchant, query: input });
          // A payments service of an older release has no reports.
          if (answer.status === 404) throw unavailable(new Error('payments knows no reports'));
          return forward(answer);
        },
      }),
    },
  ];
}

/** What a payments service of an older release filters by; it ignores anything else. */
const olderQuery = ['status', 'created_from', 'created_to', 'cursor', 'limit'];

/** @throws HttpError 503 for a list that a payments service of an older release did not narrow down: its payments have no reference. */
function requireFiltered(answer: ServiceResponse, query: Record<string, unknown>): void {
  if (Object.keys(query).every((name) => olderQuery.includes(name))) return;
  const payments: Partial<Payment>[] = successBody(ListPayments, answer)?.payments ?? [];
  if (payments.some(({ reference }) => reference === undefined))
    throw unavailable(new Error('payments does not know this filter'));
}

/** @throws HttpError 429 while another export is under way. */
function toExport({ status, headers, body }: StreamResponse): Reply {
  if (status === 200) {
    const contentType = headers['content-type'] ?? 'application/octet-stream';
    const extension = contentType.startsWith('text/csv') ? 'csv' : 'ndjson';
    const disposition = `attachment; filename="payments.${extension}"`;
    return { status, headers: { 'content-type': contentType, 'content-disposition': disposition }, body };
  }
  body.destroy();
  if (status !== 429) throw unavailable(new Error(`upstream answered ${status}`));
  throw rateLimited(Number(headers['retry-after'] ?? 1));
}
