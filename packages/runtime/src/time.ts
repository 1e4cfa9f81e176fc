/**
 * The format of every time on the wire and in messages: RFC 3339, UTC, milliseconds, `Z`. `parseRfc3339` in contracts
 * reads it.
 */
export function rfc3339(date: Date): string {
  return date.toISOString();
}

/** A wire record as PostgreSQL returns it, with these times as dates. */
export type WithDates<Json, Times extends keyof Json> = Omit<Json, Times> & {
  [F in Times]: Json[F] extends string ? Date : Date | null;
};

/** A row as it is sent, with its times as RFC 3339 text. */
type WithTextTimes<Row> = {
  [F in keyof Row]: Row[F] extends Date ? string : Row[F] extends Date | null ? string | null : Row[F];
};

export function withTextTimes<Row extends object>(row: Row): WithTextTimes<Row> {
  const fields = Object.entries<unknown>(row as Record<string, unknown>).map(([name, value]) => [
    name,
    value instanceof Date ? rfc3339(value) : value,
  ]);
  return Object.fromEntries(fields) as WithTextTimes<Row>;
}

/**
 * The current time, passed in so that rules can be tested at any time. Important decisions use the database's clock.
 */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
