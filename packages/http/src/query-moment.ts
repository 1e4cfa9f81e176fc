import { invalid } from './errors.ts';

/** RFC 3339 in UTC with a `Z`, as every service writes it. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;

/**
 * A moment in a query, such as the one before which a page of older entries begins.
 * @returns null when the parameter is absent.
 * @throws HttpError 422 naming the parameter when it is anything else.
 */
export function queryMoment(query: URLSearchParams, name: string): Date | null {
  const text = query.get(name);
  if (text === null) return null;
  const moment = new Date(text);
  if (MOMENT.test(text) && !Number.isNaN(moment.getTime())) return moment;
  throw invalid({ field: name, reason: 'must be a time such as 2026-01-31T12:00:00.000Z' });
}
