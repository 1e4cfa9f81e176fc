import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ExportPayments, exportFormats, type ExportFormat } from '@quittance/contracts/http/payments/finding.ts';
import { ReadReport, reportGroups, reportTimes, type Report } from '@quittance/contracts/http/payments/reports.ts';
import { paymentStatuses } from '@quittance/contracts/api/payment.ts';
import { query } from '@quittance/contracts/query.ts';
import { invalid } from '@quittance/http/errors.ts';
import { readQuery } from '@quittance/http/server/call-route.ts';
import type { Reply, Route } from '@quittance/http/server/route.ts';
import { pricesText, reportView } from '@quittance/operator/merchants.ts';
import { amount, facts, type Part } from '@quittance/operator/view.ts';
import { rfc3339, systemClock } from '@quittance/runtime/time.ts';
import { dateField, filterForm, selectField } from '../filter.ts';
import { fileReply, isMerchant, ownPage, paramsOf, visitRoute, type Context, type OwnVisit } from '../page-route.ts';
import { partOf } from '../services.ts';
import { render, show } from '../view.ts';

const DAY_MS = 86_400_000;

const { status, format, bom } = ExportPayments.query;

/** As through the API. */
const EXPORT_DAYS_MAX = 366;

/** What became of a merchant's payments, counted, and the payments themselves as a file. */
export const reportRoutes = (context: Context): Route[] => [
  ownPage(context, '/my/report', async (visit) => {
    const { from, to, group, by } = readQuery(ReadReport.query, givenIn(visit.request));
    const today = dayOf(systemClock());
    const span = {
      from: from === null ? `${today.slice(0, 7)}-01` : dayOf(from),
      to: to === null ? today : dayOf(to),
      group: group ?? 'day',
      by: by ?? 'payment',
    };
    const report = await partOf(visit.services.call(ReadReport, { ...paramsOf(visit.viewer), query: span }));
    return {
      title: 'Report',
      content: html`${reportForm(span)}
      ${show(report, (known) => render([totalsOf(known), ...reportView(known, 'report')], visit.viewer))}
      ${exportForm(span)}`,
    };
  }),
  visitRoute(context, 'GET', '/my/export', isMerchant, exported),
];

/** Passed on as it comes, at the pace of the browser; one that cannot be finished breaks off, so that no half is taken for the whole. */
async function exported({ request, services, viewer }: OwnVisit): Promise<Reply> {
  const given = readQuery({ from: query.day, to: query.day, status, format, bom }, givenIn(request));
  const { from, to } = given;
  if (from === null || to === null) throw invalid({ field: from === null ? 'from' : 'to', reason: 'must be given' });
  const end = new Date(to.getTime() + DAY_MS);
  const days = (end.getTime() - from.getTime()) / DAY_MS;
  if (days < 1 || days > EXPORT_DAYS_MAX)
    throw invalid({ field: 'to', reason: `must be from the first day on, and at most ${EXPORT_DAYS_MAX} days in all` });
  const kind: ExportFormat = given.format ?? 'csv';
  const asked = {
    created_from: rfc3339(from),
    created_to: rfc3339(end),
    format: kind,
    status: given.status ?? undefined,
    // Who downloads CSV here opens it in a spreadsheet.
    bom: given.bom ?? '1',
  } as const;
  const { headers, body } = await services.stream(ExportPayments, { ...paramsOf(viewer), query: asked });
  const name = `payments-${dayOf(from)}-${dayOf(to)}.${kind}`;
  return fileReply(body, name, headers['content-type'] ?? 'application/octet-stream');
}

const dayOf = (date: Date): string => rfc3339(date).slice(0, 10);

/** What a form sends for a field that was left empty is not given. */
const givenIn = ({ query }: OwnVisit['request']): URLSearchParams =>
  new URLSearchParams([...query].filter(([, value]) => value !== ''));

const totalsOf = ({ totals }: Report): Part =>
  facts({
    created: totals.created,
    paid: totals.paid,
    'paid amount': amount(totals.paid_amount),
    'prices paid': pricesText(totals.paid_prices) || null,
    expired: totals.expired,
    cancelled: totals.cancelled,
  });

/** A span of UTC days, both included. */
type Span = { from: string; to: string; group: string; by: string };

const reportForm = ({ from, to, group, by }: Span): Html =>
  filterForm(
    '/my/report',
    [
      ...spanFields('report', from, to),
      selectField('group', 'By', reportGroups, group),
      selectField('by', 'Count as paid on', reportTimes, by, {
        names: { payment: 'the day it became PAID', chain: 'the day of its block' },
      }),
    ],
    'Show',
  );

const exportForm = ({ from, to }: Span): Html =>
  html`<section>
    <h2>Export</h2>
    <p>Payments created in this time, oldest first; at most 366 days.</p>
    ${filterForm(
      '/my/export',
      [
        ...spanFields('export', from, to),
        selectField('status', 'Status', ['', ...paymentStatuses], '', { names: { '': 'any' } }),
        selectField('format', 'Format', exportFormats, 'csv'),
      ],
      'Download',
    )}
  </section>`;

const spanFields = (id: string, from: string, to: string): Html[] => [
  dateField(`${id}-from`, 'from', 'From, UTC', from),
  dateField(`${id}-to`, 'to', 'To, that day included', to),
];
