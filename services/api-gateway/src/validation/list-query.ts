import { ListPayments } from '@quittance/contracts/http/payments/payments.ts';
import { readCursor } from '@quittance/contracts/payment-cursor.ts';
import { readQuery } from '@quittance/http/server/call-route.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

const timestampPattern =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const time = {
  parse: utcTime,
  reason: 'must be an RFC 3339 time, e.g. 2026-01-31T09:00:00Z (with + written as %2B)',
};

/** What payments takes, with times as merchants may write them. Each becomes the text that payments reads. */
const parameters = {
  ...ListPayments.query,
  cursor: { ...ListPayments.query.cursor, parse: (text: string) => readCursor(text) && text },
  created_from: time,
  created_to: time,
};

/** GET /payments knows only `status`. @throws HttpError 422 with every invalid parameter. */
export const readListQuery = (query: URLSearchParams) => ({
  limit: 100,
  ...given(readQuery({ status: parameters.status }, query)),
});

/** GET /payments/page. Parameters it does not know are ignored. @throws HttpError 422 with every invalid parameter. */
export const readPageQuery = (query: URLSearchParams) => ({ limit: 20, ...given(readQuery(parameters, query)) });

const given = (values: Record<string, string | number | null>): Record<string, string | number> =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));

/** An RFC 3339 timestamp, in UTC with milliseconds. The year is bounded so that every store can hold it. */
function utcTime(text: string): string | null {
  const day = timestampPattern.exec(text)?.[1];
  if (day === undefined) return null;
  const date = new Date(text);
  const midnight = new Date(`${day}T00:00:00Z`);
  // The 30th of February is either refused by Date or becomes a day in March.
  const isCalendarDay = !Number.isNaN(midnight.getTime()) && rfc3339(midnight).startsWith(day);
  if (!isCalendarDay || date.getUTCFullYear() < 1970 || date.getUTCFullYear() > 9999) return null;
  return rfc3339(date);
}
