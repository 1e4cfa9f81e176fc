/** The one form of a time on the wire and in messages: RFC 3339, UTC, milliseconds, `Z`. `parseRfc3339` in contracts reads it. */
export function rfc3339(date: Date): string {
  return date.toISOString();
}
