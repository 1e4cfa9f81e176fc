import pg from 'pg';

/** Gives a connection as the database's superuser, for as long as `run` takes. */
export async function withDatabase<T>(url: string, run: (db: pg.Client) => Promise<T>): Promise<T> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  try {
    return await run(db);
  } finally {
    await db.end();
  }
}
