/** The one form of a time on the wire and in messages: RFC 3339, UTC, milliseconds, `Z`. */
export function rfc3339(date: Date): string {
  return date.toISOString();
}

/** @returns the time of a text in RFC 3339, in UTC with a `Z`; null for any other text, and for a date that does not exist. */
export function parseRfc3339(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(text)) return null;
  const date = new Date(text);
  // JavaScript reads 30 February as 2 March.
  const exists = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text.slice(0, 10));
  return exists ? date : null;
}
