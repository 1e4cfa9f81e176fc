import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';

/** The cost of all executions of one statement. */
export type StatementCost = {
  /** The service: its role without the prefix. */
  service: string;
  query: string;
  /** True for a statement in a function, whose cost is part of the function's call. */
  nested: boolean;
  calls: number;
  execUs: number;
  walBytes: number;
  /** Pages of 8 KiB found in, or read into, shared memory. */
  pages: number;
};

/**
 * Every statement that services sent while `run` ran, triggers included, the most expensive first. Needs a stack of `benchmarkStack`.
 * @param track 'all' also counts statements in functions.
 */
export async function countStatements(
  postgresUrl: string,
  run: () => Promise<unknown>,
  track: 'top' | 'all' = 'top',
): Promise<StatementCost[]> {
  return withDatabase(postgresUrl, async (db) => {
    const setTracking = async (what: 'top' | 'all' | 'none'): Promise<void> => {
      await db.query(`alter system set pg_stat_statements.track = '${what}'`);
      await db.query('select pg_reload_conf()');
      // Each session reads its settings again before its next statement, but only after the server's signal.
      await eventually(async () => {
        const { rows } = await db.query<{ now: string }>(`select current_setting('pg_stat_statements.track') as now`);
        if (rows[0]?.now !== what) throw new Error('not yet');
      });
    };
    await db.query('create extension if not exists pg_stat_statements');
    await setTracking(track);
    try {
      await db.query('select pg_stat_statements_reset()');
      await run();
      const { rows } = await db.query<StatementCost>(
        `select replace(rolname, 'quittance_', '') as service, query, not toplevel as nested, calls::integer,
                total_exec_time * 1000 as "execUs", wal_bytes::double precision as "walBytes",
                (shared_blks_hit + shared_blks_read)::double precision as pages
         from pg_stat_statements join pg_roles on pg_roles.oid = userid
         where rolname like 'quittance\\_%'
         order by total_exec_time desc`,
      );
      return rows;
    } finally {
      await setTracking('none');
    }
  });
}
