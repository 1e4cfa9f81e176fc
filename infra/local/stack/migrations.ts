import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { StackError } from './directory.ts';

/** Longer than the ten minutes that a migration waits for a lock, because building an index waits for all readers. */
const TIMEOUT_MS = 900_000;

/**
 * Migrates every service's schema with the service's own role and the command that deployments use.
 * @param checkout the one whose migrations run.
 */
export async function migrateAll(databaseUrls: Record<ServiceName, string>, checkout: string): Promise<void> {
  await Promise.all(serviceNames.map((name) => migrate(name, databaseUrls[name], checkout)));
}

function migrate(name: ServiceName, databaseUrl: string, checkout: string): Promise<void> {
  const entry = join(checkout, 'packages', 'messaging', 'src', 'schema', 'migrate.ts');
  return runMigration(name, [entry, name], { databaseUrl, checkout });
}

/** @param words of the command, without Node. @throws StackError with what it printed. */
export async function runMigration(
  name: string,
  words: readonly string[],
  { databaseUrl, checkout }: { databaseUrl: string; checkout: string },
): Promise<void> {
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  await promisify(execFile)(process.execPath, words, { cwd: checkout, env, timeout: TIMEOUT_MS }).catch(
    (error: unknown) => {
      const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
      throw new StackError(`migrating the schema of ${name} failed: ${message}\n${stdout}${stderr}`);
    },
  );
}
