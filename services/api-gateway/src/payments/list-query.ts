import { ExportPayments } from '@quittance/contracts/http/payments/finding.ts';
import { listFilters, pageParameters, readCursor } from '@quittance/contracts/http/payments/payments.ts';
import { ReadReport, reportSpanProblem } from '@quittance/contracts/http/payments/reports.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { query } from '@quittance/contracts/query.ts';
import { invalid, type ValidationItem } from '@quittance/http/errors.ts';
import { readQuery } from '@quittance/http/server/call-route.ts';
import { rfc3339, type Clock } from '@quittance/runtime/time.ts';

const timestampPattern =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const time = {
  parse: utcTime,
  reason: 'must be an RFC 3339 time, e.g. 2026-01-31T09:00:00Z (with + written as %2B)',
};

/** The public parameters, with times in any form that merchants may use. Each becomes the text that payments reads. */
const parameters = {
  ...listFilters,
  ...pageParameters,
  cursor: { ...pageParameters.cursor, parse: (text: string) => readCursor(text) && text },
  created_from: time,
  created_to: time,
  paid_from: time,
  paid_to: time,
};

/** The plain list, of at most a hundred, has none of these. */
const { cursor: _cursor, limit: _limit, created_from: _from, created_to: _to, ...filters } = parameters;

type Values = Record<string, string | number>;

/**
 * The queries of lists. Unknown parameters are ignored; for GET /payments, those of pages are unknown too.
 * @returns a reader for each list's query. @throws HttpError 422 with every invalid parameter.
 */
export function listQueries(networks: readonly Network[]) {
  const network = query.oneOf(...networks.map(({ id }) => id));
  return {
    list: (given: URLSearchParams): Values => ({ limit: 100, ...present(readQuery({ ...filters, network }, given)) }),
    page: (given: URLSearchParams): Values => ({ limit: 20, ...present(readQuery({ ...parameters, network }, given)) }),
  };
}

const EXPORT_DAYS_MAX = 366;
const DAY_MS = 86_400_000;

/** Without `created_to` it ends now; without `created_from` it begins 366 days earlier. @throws HttpError 422 with every invalid parameter. */
export function readExportQuery(given: URLSearchParams, clock: Clock): Values {
  const {
    created_from: from,
    created_to: to,
    ...others
  } = readQuery({ ...ExportPayments.query, created_from: time, created_to: time }, given);
  const end = to === null ? clock() : new Date(to);
  const earliest = new Date(end.getTime() - EXPORT_DAYS_MAX * DAY_MS);
  if (from !== null && new Date(from) < earliest) {
    throw invalid({ field: 'created_from', reason: `must be at most ${EXPORT_DAYS_MAX} days before created_to` });
  }
  return present({ ...others, created_from: from ?? rfc3339(earliest), created_to: to });
}

/** GET /merchant/report. @throws HttpError 422 with every invalid parameter. */
export function readReportQuery(given: URLSearchParams): Values {
  const { from, to, group, by } = readQuery(ReadReport.query, given);
  if (from === null || to === null) throw invalid(...missing({ from, to }));
  const problem = reportSpanProblem({ from, to, group: group ?? 'day' });
  if (problem !== null) throw invalid(problem);
  return present({ from: dayOf(from), to: dayOf(to), group, by });
}

const missing = (values: Record<string, Date | null>): ValidationItem[] =>
  Object.entries(values).flatMap(([field, value]) => (value === null ? [{ field, reason: 'is required' }] : []));

const dayOf = (date: Date): string => rfc3339(date).slice(0, 10);

const present = (values: Record<string, string | number | null>): Values =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));

/** An RFC 3339 timestamp, in UTC with milliseconds. The year is bounded so that every store can hold it. */
function utcTime(text: string): string | null {
  const day = timestampPattern.exec(text)?.[1];
  if (day === undefined) return null;
  const date = new Date(text);
  const midnight = new Date(`${day}T00:00:00Z`);
  // Date refuses the 30th of February, or turns it into a day in March.
  const isCalendarDay = !Number.isNaN(midnight.getTime()) && rfc3339(midnight).startsWith(day);
  if (!isCalendarDay || date.getUTCFullYear() < 1970 || date.getUTCFullYear() > 9999) return null;
  return rfc3339(date);
}
