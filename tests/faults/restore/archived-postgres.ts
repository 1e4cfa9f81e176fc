import { chown, cp, mkdir, readdir, rm, stat, writeFile, appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres, type Postgres } from '@quittance/local-backends/postgres.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';

/** A server whose log is archived, so that it can be restored to any point in time since its copy was made. */
export type ArchivedPostgres = {
  /** The superuser's address; the same after a restore. */
  url: string;
  /** Copies the data while the server works, as `pg_basebackup` does. */
  copy(): Promise<void>;
  /** Waits until everything that was committed so far is in the archive. */
  archiveAll(): Promise<void>;
  /** Kills the server and removes its data. */
  lose(): Promise<void>;
  /** Starts anew from the copy and the archive, as everything was at this point in time. @param pointInTime of the database's clock. */
  restore(pointInTime: string): Promise<void>;
  kill(): Promise<void>;
};

/**
 * The binaries at hand have neither pg_basebackup nor pg_receivewal, so this does by PostgreSQL's own functions what these do:
 * a copy of the files between pg_backup_start and pg_backup_stop, and an archive_command.
 */
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
  // Archiving begins with the next start.
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
    // A file that is there already must not be overwritten, and one that is half there must not count.
    const command = `test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`;
    await db.query(`alter system set archive_command = ${pg.escapeLiteral(command)}`);
  });
}

/** One session from start to stop: its end would end the backup. */
async function copyFiles(url: string, data: string, target: string): Promise<void> {
  await withDatabase(url, async (db) => {
    await db.query(`select pg_backup_start('drill', fast => true)`);
    const skipped = /\/(?:postmaster\.(?:pid|opts)|pg_wal\/[0-9A-F]{24})$/;
    // Files that come and go meanwhile are made good by the log.
    await copyMovingTree(data, target, (path) => !skipped.test(path));
    const { rows } = await db.query<{ labelfile: string; spcmapfile: string }>(
      'select labelfile, spcmapfile from pg_backup_stop()',
    );
    await writeFile(join(target, 'backup_label'), rows[0]!.labelfile);
    await writeFile(join(target, 'tablespace_map'), rows[0]!.spcmapfile);
  });
}

async function copyMovingTree(from: string, to: string, isWanted: (path: string) => boolean): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (!isWanted(source)) continue;
    if (entry.isDirectory()) await copyMovingTree(source, copy, isWanted);
    else {
      await cp(source, copy).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      });
    }
  }
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
      { timeoutMs: 60_000, intervalMs: 100 },
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

/** Reads are answered before the log is at its end; writes only after. */
async function promoted(url: string): Promise<void> {
  await eventually(
    () =>
      withDatabase(url, async (db) => {
        const { rows } = await db.query<{ busy: boolean }>('select pg_is_in_recovery() as busy');
        if (rows[0]?.busy !== false) throw new Error('the server is still reading its archive');
      }),
    { timeoutMs: 120_000, intervalMs: 50 },
  );
}

/** As root, the server runs as another user, to whom its files must belong. */
async function giveTo(ownerOf: string, path: string): Promise<void> {
  const { uid, gid } = await stat(ownerOf);
  await chown(path, uid, gid);
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    await chown(join(entry.parentPath, entry.name), uid, gid);
  }
}
