import { rfc3339 } from '@quittance/runtime/time.ts';

/** A row as it is answered: its times as RFC 3339. */
export type WithTextTimes<Row> = {
  [F in keyof Row]: Row[F] extends Date ? string : Row[F] extends Date | null ? string | null : Row[F];
};

export function withTextTimes<Row extends object>(row: Row): WithTextTimes<Row> {
  const fields = Object.entries<unknown>(row as Record<string, unknown>).map(([name, value]) => [
    name,
    value instanceof Date ? rfc3339(value) : value,
  ]);
  return Object.fromEntries(fields) as WithTextTimes<Row>;
}
