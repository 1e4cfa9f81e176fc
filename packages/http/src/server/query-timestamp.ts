import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import { invalid } from '../errors.ts';

/**
 * A moment in a query, such as the one before which a page of older entries begins.
 * @returns null when the parameter is absent.
 * @throws HttpError 422 naming the parameter when it is anything else.
 */
export function queryTimestamp(query: URLSearchParams, name: string): Date | null {
  const text = query.get(name);
  if (text === null) return null;
  const moment = parseRfc3339(text);
  if (moment !== null) return moment;
  throw invalid({ field: name, reason: 'must be a time such as 2026-01-31T12:00:00.000Z' });
}
