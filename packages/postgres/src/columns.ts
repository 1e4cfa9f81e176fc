/** These columns of some rows, one array each: what unnest() takes. */
export const columns = <Row extends object>(rows: readonly Row[], ...names: readonly (keyof Row)[]): unknown[][] =>
  names.map((name) => rows.map((row) => row[name]));
