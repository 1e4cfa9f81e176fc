import pg from 'pg';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';

/** Gives a connection as the database's superuser, for as long as `run` takes. */
export async function withDatabase<T>(url: string, run: (db: pg.Client) => Promise<T>): Promise<T> {
  const db = new pg.Client({ connectionString: url });
  // A session that a fault ends says so at its next statement, too.
  db.on('error', () => undefined);
  await db.connect();
  try {
    return await run(db);
  } finally {
    await db.end();
  }
}

/** Runs one statement as the database's superuser: only to move time, or to look for what must not be there. */
export async function inDatabase<Row extends pg.QueryResultRow>(
  stack: Pick<StackFile, 'postgres_url'>,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const { rows } = await withDatabase(stack.postgres_url, (db) => db.query<Row>(text, values));
  return rows;
}
