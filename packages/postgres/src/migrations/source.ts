import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The source of a schema's tables and functions. A schema may have several, such as a package's and a service's. */
export type MigrationSource = {
  /** Holds `migrations/NNNN_name.sql` and, where there are functions, `sql/<function>.sql`. */
  directory: string | URL;
  /** The table in the schema that records which migrations were applied. */
  ledger: string;
  /** The release of these files, as `major.minor.patch`. */
  version: string;
};

/** The one current definition of a function. */
export type FunctionFile = { name: string; sql: string; sha256: string };

export const pathOf = ({ directory }: MigrationSource, folder: 'migrations' | 'sql'): string =>
  join(typeof directory === 'string' ? directory : fileURLToPath(directory), folder);

/**
 * Names of the migrations without `.sql`, in order.
 * @throws when a file has a wrong name: node-pg-migrate would run a .ts file, and would run two files with one number
 *   in either order.
 */
export async function migrationNames(source: MigrationSource): Promise<string[]> {
  const path = pathOf(source, 'migrations');
  const names = (await readdir(path)).sort();
  const numbers = new Set<string>();
  for (const name of names) {
    const number = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1];
    if (number === undefined) throw new Error(`${path}/${name} is not named NNNN_name.sql`);
    if (numbers.has(number)) throw new Error(`${path} has two migrations numbered ${number}`);
    numbers.add(number);
  }
  return names.map((name) => name.slice(0, -'.sql'.length));
}

/** @throws when a file is not named after a function. */
export async function functionFiles(source: MigrationSource): Promise<FunctionFile[]> {
  const path = pathOf(source, 'sql');
  const names = await readdir(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  return Promise.all(
    names.sort().map(async (file) => {
      const name = /^([a-z][a-z0-9_]*)\.sql$/.exec(file)?.[1];
      if (name === undefined) throw new Error(`${path}/${file} is not named <function>.sql`);
      const sql = await readFile(join(path, file), 'utf8');
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
