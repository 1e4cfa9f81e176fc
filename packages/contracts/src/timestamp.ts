/** JSON Schema of a timestamp on the wire: RFC 3339 in UTC with milliseconds and `Z`, as `Date.prototype.toISOString` writes it. */
export const timestampSchema = {
  type: 'string',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$',
} as const;

/**
 * @returns the time of a text in RFC 3339 in UTC with a `Z`; null for any other text, and for days that don't exist.
 */
export function parseRfc3339(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(text)) return null;
  const time = new Date(text);
  // JavaScript reads 30 February as 2 March.
  const exists = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 10));
  return exists ? time : null;
}
