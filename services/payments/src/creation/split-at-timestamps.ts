import type { SplitJson } from '../store/new-payment.ts';

/**
 * Cuts the values of `created_at` and `expires_at` out of a JSON text: only the database knows them, once it holds the merchant's gate.
 * @param json an object whose `created_at` comes before its `expires_at`.
 */
export function splitAtTimestamps(json: string): SplitJson {
  const [beforeCreatedAt, rest] = splitAt(json, 'created_at');
  return [beforeCreatedAt, ...splitAt(rest, 'expires_at')];
}

/** Quotes inside a value are escaped, so the quoted name can only be the field. */
function splitAt(json: string, field: string): [before: string, after: string] {
  const name = `"${field}":"`;
  const position = json.indexOf(name);
  if (position === -1) throw new Error(`${field} is missing in ${json}`);
  const start = position + name.length;
  return [json.slice(0, start), json.slice(json.indexOf('"', start))];
}
