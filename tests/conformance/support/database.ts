import type pg from 'pg';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { withDatabase } from '../../support/database.ts';

/** Runs one statement as the database's superuser: only to move time, or to look for what must not be there. */
export async function inDatabase<Row extends pg.QueryResultRow>(
  stack: Pick<StackFile, 'postgres_url'>,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const { rows } = await withDatabase(stack.postgres_url, (db) => db.query<Row>(text, values));
  return rows;
}
