import { chown, cp, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';

/**
 * Copies the data of a running server, as pg_basebackup does, which the available binaries lack: its files between pg_backup_start and
 * pg_backup_stop. The caller has to provide the rest of the WAL.
 * @param url the superuser's. @param data the server's directory. @param target of the copy.
 */
export async function copyFiles(url: string, data: string, target: string): Promise<void> {
  // One session from start to stop, because its end would end the backup.
  await withDatabase(url, async (db) => {
    await db.query(`select pg_backup_start('copy', fast => true)`);
    const skipped = /\/(?:postmaster\.(?:pid|opts)|pg_wal\/[0-9A-F]{24})$/;
    // The WAL restores files that appear or disappear meanwhile.
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

/** Waits for the end of recovery. Reads are answered before that, writes only after it. */
export async function promoted(url: string): Promise<void> {
  await eventually(
    () =>
      withDatabase(url, async (db) => {
        const { rows } = await db.query<{ busy: boolean }>('select pg_is_in_recovery() as busy');
        if (rows[0]?.busy !== false) throw new Error('the server is still reading its archive');
      }),
    { intervalMs: 50 },
  );
}

/** If the tests run as root, the server runs as another user, who must own its files. */
export async function giveTo(ownerOf: string, path: string): Promise<void> {
  const { uid, gid } = await stat(ownerOf);
  await chown(path, uid, gid);
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    await chown(join(entry.parentPath, entry.name), uid, gid);
  }
}
