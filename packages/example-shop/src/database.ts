import { readFile } from 'node:fs/promises';
import pg from 'pg';

export type Database = pg.Pool;
/** The common part of the pool and a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>;

/** Connects, and creates missing tables. */
export async function openDatabase(url: string, log: (line: string) => void): Promise<Database> {
  const db = new pg.Pool({ connectionString: url, max: 10, connectionTimeoutMillis: 5_000 });
  // The pool replaces an idle connection that breaks.
  db.on('error', (error) => log(`a database connection broke: ${error.message}`));
  await db.query(await readFile(new URL('schema.sql', import.meta.url), 'utf8'));
  return db;
}

/** Commits everything that `run` does, or nothing if it throws. */
export async function inTransaction<T>(db: Database, run: (tx: Queryable) => Promise<T>): Promise<T> {
  const client = await db.connect();
  try {
    await client.query('begin');
    const result = await run(client);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // A connection in an unknown state is not reused; closing it rolls back.
    client.release(true);
    throw error;
  }
}
