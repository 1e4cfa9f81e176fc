/** These columns of some rows, one array each: what unnest() takes. */
export const columns = <Row extends object>(rows: readonly Row[], ...names: readonly (keyof Row)[]): unknown[][] =>
  names.map((name) => rows.map((row) => row[name]));

/** The first row of a statement that always returns one. */
export function firstRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('the statement returned no row');
  return row;
}
