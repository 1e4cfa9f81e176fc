import { withDatabase } from '../../support/database.ts';
import { cpuUsOf, parentOf } from './cpu.ts';

/** @returns the process that forked the sessions of this server, or null where the system does not report it. */
export const postmasterOf = (postgresUrl: string): Promise<number | null> =>
  withDatabase(postgresUrl, async (db) => {
    const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
    return parentOf(rows[0]?.pid ?? 0);
  });

/**
 * CPU time, in microseconds, of each service's sessions while `run` runs, as `postgres: <service>`. Sessions that end meanwhile are not
 * included here, only in the time of the whole server.
 */
export async function withCpuOfSessions<T>(
  postgresUrl: string,
  run: () => Promise<T>,
): Promise<{ result: T; cpuUs: Record<string, number> }> {
  const before = await readSessions(postgresUrl);
  const result = await run();
  const cpuUs: Record<string, number> = {};
  for (const [pid, session] of await readSessions(postgresUrl)) {
    const spent = session.cpuUs - (before.get(pid)?.cpuUs ?? 0);
    const name = `postgres: ${session.service}`;
    cpuUs[name] = (cpuUs[name] ?? 0) + spent;
  }
  return { result, cpuUs };
}

async function readSessions(postgresUrl: string): Promise<Map<number, { service: string; cpuUs: number }>> {
  const { rows } = await withDatabase(postgresUrl, (db) =>
    db.query<{ pid: number; service: string }>(
      `select pid, replace(usename, 'quittance_', '') as service from pg_stat_activity where usename like 'quittance\\_%'`,
    ),
  );
  return new Map(rows.map(({ pid, service }) => [pid, { service, cpuUs: cpuUsOf(pid) ?? 0 }]));
}

/** @returns bytes that the server has written to its log so far. */
export const walPosition = (postgresUrl: string): Promise<number> =>
  withDatabase(postgresUrl, async (db) => {
    const { rows } = await db.query<{ bytes: string }>(`select pg_current_wal_insert_lsn() - '0/0' as bytes`);
    return Number(rows[0]?.bytes);
  });

/** Rows and index entries that statements have read so far in the tables of this database. Sessions report theirs when they end. */
export const rowsRead = (postgresUrl: string): Promise<number> =>
  withDatabase(postgresUrl, async (db) => {
    const { rows } = await db.query<{ count: string }>(
      `select (select coalesce(sum(seq_tup_read), 0) from pg_stat_user_tables)
            + (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes) as count`,
    );
    return Number(rows[0]?.count);
  });

/** @throws Error when a commit would not wait for the disk, as it does in production. */
export async function requireDurable(postgresUrl: string): Promise<void> {
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const value = await withDatabase(postgresUrl, async (db) => {
      const { rows } = await db.query<{ value: string }>('select current_setting($1) as value', [setting]);
      return rows[0]?.value;
    });
    if (value !== 'on') throw new Error(`${setting} is ${value ?? 'unknown'} at ${new URL(postgresUrl).host}`);
  }
}
