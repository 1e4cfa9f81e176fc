import pg from 'pg';
import { withDatabase } from '../../support/database.ts';
import type { Backends } from './backends.ts';
import type { Store } from './chaos-contender.ts';

/** A contender's database on the server that all of them share. @param adminUrl the superuser's, of that database. */
export const postgresStore = ({ postgres }: Backends, adminUrl: string): Store => ({
  ...postgres,
  async cut() {
    await withDatabase(adminUrl, (db) =>
      db.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      ),
    );
  },
  async holdSnapshot() {
    const db = new pg.Client({ connectionString: adminUrl });
    db.on('error', () => undefined);
    await db.connect();
    await db.query('begin isolation level repeatable read');
    await db.query('select pg_current_xact_id()');
    return () => db.end();
  },
});

/** @returns the number that the query selects as `count`. */
export const countIn = (adminUrl: string, query: string): Promise<number> =>
  withDatabase(adminUrl, async (db) => {
    const { rows } = await db.query<{ count: number }>(query);
    return rows[0]?.count ?? 0;
  });
