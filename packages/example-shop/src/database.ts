import { readFile } from 'node:fs/promises';
import pg from 'pg';

export type Database = pg.Pool;
/** What both the pool and a transaction can do. */
export type Queryable = Pick<pg.Pool, 'query'>;

/** Connects, and makes the tables that are missing. */
export async function openDatabase(url: string, log: (line: string) => void): Promise<Database> {
  const db = new pg.Pool({ connectionString: url, max: 10, connectionTimeoutMillis: 5_000 });
  // A connection that breaks while nobody uses it is replaced by the pool.
  db.on('error', (error) => log(`a database connection broke: ${error.message}`));
  await db.query(await readFile(new URL('schema.sql', import.meta.url), 'utf8'));
  return db;
}

/** Does it all, or, when `run` throws, nothing. */
export async function inTransaction<T>(db: Database, run: (tx: Queryable) => Promise<T>): Promise<T> {
  const client = await db.connect();
  try {
    await client.query('begin');
    const result = await run(client);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // A connection in doubt is not used again; its end rolls back.
    client.release(true);
    throw error;
  }
}
