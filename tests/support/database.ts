import pg from 'pg';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';

/** Calls `run` with a connection as the database's superuser. */
export async function withDatabase<T>(url: string, run: (db: pg.Client) => Promise<T>): Promise<T> {
  const db = new pg.Client({ connectionString: url });
  // A session that a fault ends also fails its next statement.
  db.on('error', () => undefined);
  await db.connect();
  try {
    return await run(db);
  } finally {
    await db.end();
  }
}

/** Runs one statement as the database's superuser. Only for moving time, or for finding data that must not exist. */
export async function inDatabase<Row extends pg.QueryResultRow>(
  stack: Pick<StackFile, 'postgres_url'>,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const { rows } = await withDatabase(stack.postgres_url, (db) => db.query<Row>(text, values));
  return rows;
}
