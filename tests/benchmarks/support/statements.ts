import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';

/** What one statement cost, all its executions together. */
export type StatementCost = {
  /** Of which service: its role without the prefix. */
  service: string;
  query: string;
  /** True for what a function ran, whose costs are part of those of its call. */
  nested: boolean;
  calls: number;
  execUs: number;
  walBytes: number;
  /** Pages of 8 KiB found in, or read into, shared memory. */
  pages: number;
};

/**
 * Every statement that services sent, triggers included, while `run` ran, the dearest first. Needs a stack of `benchmarkStack`.
 * @param track 'all' counts what functions run as well.
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
      // Every session reads its settings again before its next statement, but only once the server has told it to.
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
