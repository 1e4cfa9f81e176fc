import type pg from 'pg';
import type { Pool } from '@quittance/postgres/pool.ts';

/** A statement of a service, or a few that belong together, on the rows of its schema. */
export type Operation = {
  name: string;
  /** @param n counts up, so that each call uses other rows. Writes are rolled back. */
  run: (n: number) => Promise<unknown>;
};

/** What one run of an operation costs the database, without planning and without the commit. */
export type Cost = {
  ms: number;
  /** Pages of 8 KiB found in, or read into, shared memory. */
  pages: number;
};

/** A schema whose statements are measured. */
export type MeasuredSchema = {
  /** The superuser's connection that is not measured. */
  admin: pg.Client;
  /** Also the superuser's, who alone can turn on counting; one connection, so that `begin` applies to every statement. */
  pool: Pool;
};

export const prepareCounting = ({ admin }: MeasuredSchema) =>
  admin.query('create extension if not exists pg_stat_statements');

/** @returns the mean of `times` runs that begin with number `from`. */
export async function costOf(
  { admin, pool }: MeasuredSchema,
  { run }: Operation,
  { from, times }: { from: number; times: number },
): Promise<Cost> {
  // Only for this session, and again each time, because a session that was idle for long is replaced.
  await pool.query(`set pg_stat_statements.track = 'top'`);
  await admin.query('select pg_stat_statements_reset()');
  for (let n = from; n < from + times; n += 1) {
    await pool.query('begin');
    try {
      await run(n);
    } finally {
      await pool.query('rollback');
    }
  }
  const { rows } = await admin.query<{ ms: number | null; pages: number | null }>(
    `select (sum(total_exec_time) / $1)::float8 as ms, (sum(shared_blks_hit + shared_blks_read) / $1)::float8 as pages
       from pg_stat_statements join pg_database on pg_database.oid = dbid
      where datname = current_database() and query not in ('begin', 'rollback') and query not like 'set %'`,
    [times],
  );
  const { ms = null, pages = null } = rows[0] ?? {};
  if (ms === null || pages === null) throw new Error('no statement was counted');
  return { ms, pages };
}
