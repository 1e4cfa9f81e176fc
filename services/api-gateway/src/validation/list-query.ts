import { readCursor } from '@quittance/contracts/payment-cursor.ts';
import { paymentStatuses } from '@quittance/contracts/payment.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { invalid, type ValidationItem } from '@quittance/http/errors.ts';

/** Validated query parameters for payments' list, in canonical form. */
export type ListQuery = Record<string, string>;

const timestampPattern =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

type Check = (text: string) => { value: string } | { reason: string };

const checks = {
  status: (text) =>
    paymentStatuses.some((status) => status === text)
      ? { value: text }
      : { reason: `must be one of ${paymentStatuses.join(', ')}` },
  limit: (text) =>
    /^([1-9]\d?|100)$/.test(text) ? { value: text } : { reason: 'must be a whole number from 1 to 100' },
  cursor: (text) =>
    readCursor(text) === null ? { reason: 'must be a next_cursor of an earlier page' } : { value: text },
  created_from: (text) => timestamp(text),
  created_to: (text) => timestamp(text),
} as const satisfies Record<string, Check>;

type Parameter = keyof typeof checks;

const pageDefaults = { limit: '20' };

/** GET /payments knows only `status`. @throws HttpError 422 with every invalid parameter. */
export const readListQuery = (query: URLSearchParams): ListQuery => ({ limit: '100', ...read(query, ['status']) });

/** GET /payments/page. Parameters it does not know are ignored. @throws HttpError 422 with every invalid parameter. */
export const readPageQuery = (query: URLSearchParams): ListQuery => ({
  ...pageDefaults,
  ...read(query, ['status', 'limit', 'cursor', 'created_from', 'created_to']),
});

function read(query: URLSearchParams, names: readonly Parameter[]): ListQuery {
  const problems: ValidationItem[] = [];
  const values: ListQuery = {};
  for (const name of names) {
    const [text, ...others] = query.getAll(name);
    if (text === undefined) continue;
    const result = others.length > 0 ? { reason: 'is given more than once' } : checks[name](text);
    if ('value' in result) values[name] = result.value;
    else problems.push({ field: name, reason: result.reason });
  }
  if (problems.length > 0) throw invalid(...problems);
  return values;
}

/** An RFC 3339 timestamp, in UTC with milliseconds. The year is bounded so that every store can hold it. */
function timestamp(text: string): ReturnType<Check> {
  const reason = 'must be an RFC 3339 time, e.g. 2026-01-31T09:00:00Z (with + written as %2B)';
  const day = timestampPattern.exec(text)?.[1];
  if (day === undefined) return { reason };
  const date = new Date(text);
  const midnight = new Date(`${day}T00:00:00Z`);
  // The 30th of February is either refused by Date or becomes a day in March.
  const isCalendarDay = !Number.isNaN(midnight.getTime()) && rfc3339(midnight).startsWith(day);
  if (!isCalendarDay || date.getUTCFullYear() < 1970 || date.getUTCFullYear() > 9999) return { reason };
  return { value: rfc3339(date) };
}
