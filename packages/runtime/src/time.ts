/** The one form of a time on the wire and in messages: RFC 3339, UTC, milliseconds, `Z`. `parseRfc3339` in contracts reads it. */
export function rfc3339(date: Date): string {
  return date.toISOString();
}

/** A record of the wire as PostgreSQL returns it: these times as dates. */
export type WithDates<Json, Times extends keyof Json> = Omit<Json, Times> & {
  [F in Times]: Json[F] extends string ? Date : Date | null;
};

/** A row as it is answered: its times as RFC 3339. */
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

/** Where "now" comes from, passed in so that a rule can be tested at any time. Decisions that matter use the database's clock. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
