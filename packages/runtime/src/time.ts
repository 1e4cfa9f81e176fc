/** The one form of a time on the wire and in messages: RFC 3339, UTC, milliseconds, `Z`. */
export function rfc3339(date: Date): string {
  return date.toISOString();
}

/** @returns the moment that a text in RFC 3339, in UTC with a `Z`, names; null for any other, and for days that no calendar has. */
export function parseRfc3339(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(text)) return null;
  const moment = new Date(text);
  // JavaScript takes 30 February for 2 March.
  const exists = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text.slice(0, 10));
  return exists ? moment : null;
}
