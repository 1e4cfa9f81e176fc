import { appendFile, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres, type Postgres } from '@quittance/local-backends/postgres.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';
import { copyFiles, giveTo, promoted } from '../servers/postgres-copy.ts';

/** A server whose WAL is archived, so that it can be restored to any point in time since its base backup. */
export type ArchivedPostgres = {
  /** The superuser's URL; the same after a restore. */
  url: string;
  /** Copies the data while the server runs, as `pg_basebackup` does. */
  copy(): Promise<void>;
  /** Waits until everything committed so far is in the archive. */
  archiveAll(): Promise<void>;
  /** Kills the server and removes its data. */
  lose(): Promise<void>;
  /** Starts again from the copy and the archive, at this point in time. @param pointInTime of the database's clock. */
  restore(pointInTime: string): Promise<void>;
  kill(): Promise<void>;
};

/** The available binaries have no pg_receivewal, so an archive_command does the same with PostgreSQL's own means. */
export async function startArchivedPostgres(options: {
  directory: string;
  port: number;
  logFile: string;
}): Promise<ArchivedPostgres> {
  const { directory } = options;
  const data = join(directory, 'data');
  const archive = join(directory, 'archive');
  const copyDirectory = join(directory, 'copy');
  let server: Postgres = await startPostgres(options);
  const { url } = server;
  await mkdir(archive);
  await giveTo(data, archive);
  await archiveInto(url, archive);
  // Archiving starts with the next start.
  await server.stop();
  server = await startPostgres(options);

  return {
    url,
    copy: () => copyFiles(url, data, copyDirectory),
    archiveAll: () => archiveAll(url),
    async lose() {
      await server.kill();
      await rm(data, { recursive: true });
    },
    async restore(pointInTime) {
      await cp(copyDirectory, data, { recursive: true, preserveTimestamps: true });
      await makeReady(data, archive, pointInTime);
      server = await startPostgres(options);
      await promoted(url);
    },
    kill: () => server.kill(),
  };
}

async function archiveInto(url: string, archive: string): Promise<void> {
  await withDatabase(url, async (db) => {
    await db.query(`alter system set archive_mode = 'on'`);
    // An existing file must not be overwritten, and a partial one must not count.
    const command = `test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`;
    await db.query(`alter system set archive_command = ${pg.escapeLiteral(command)}`);
  });
}

async function archiveAll(url: string): Promise<void> {
  await withDatabase(url, async (db) => {
    const { rows } = await db.query<{ file: string }>(`select pg_walfile_name(pg_switch_wal()) as file`);
    await eventually(
      async () => {
        const archived = await db.query<{ done: boolean }>(
          'select last_archived_wal >= $1 as done from pg_stat_archiver',
          [rows[0]!.file],
        );
        if (archived.rows[0]?.done !== true) throw new Error(`${rows[0]!.file} has not reached the archive`);
      },
      { intervalMs: 100 },
    );
  });
}

async function makeReady(data: string, archive: string, pointInTime: string): Promise<void> {
  const settings = [
    `restore_command = 'cp ${archive}/%f %p'`,
    `recovery_target_time = '${pointInTime}'`,
    `recovery_target_action = 'promote'`,
  ];
  await appendFile(join(data, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
  await writeFile(join(data, 'recovery.signal'), '');
  await giveTo(archive, data);
}
